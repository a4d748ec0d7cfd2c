import { describe, expect, test } from 'vitest'
import { lineAt, scanSource } from './source.ts'

function codeOf(text: string): string {
  return scanSource('a.ts', text).code
}

function stringsOf(text: string): string[] {
  return scanSource('a.ts', text).strings.map(({ start, end }) => text.slice(start, end))
}

describe('scanSource', () => {
  test('keeps the length and the line ends of the file in every view', () => {
    const text = "const a = 'b' // c\n/* d\ne */ `f${g}\nh`\n"
    const { code, comments } = scanSource('a.ts', text)

    expect(code).toHaveLength(text.length)
    expect(comments).toHaveLength(text.length)
    expect(code.split('\n')).toHaveLength(text.split('\n').length)
  })

  test.each([
    ['line comments', 'a // b', 'a     '],
    ['block comments', 'a /* b */ c', 'a         c'],
    ['a first line for the shell', '#!/x\na', '    \na'],
    ['strings', 'a \'b\' "c"', 'a \' \' " "'],
    ['escaped quotes', String.raw`'a\'b' c`, "'    ' c"],
    ['comment marks inside strings', "'//' a", "'  ' a"],
    ['quotes inside comments', "a // it's\nb", 'a        \nb'],
    ['templates but not what they hold', '`a${b}c` d', '` ${b} ` d'],
    ['braces inside templates', '`${ {a: `b`} }` c', '`${ {a: ` `} }` c'],
    ['regular expressions', 'a(/[/"]b/g)', 'a(/     /g)'],
    ['regular expressions after a word', 'return /"/', 'return / /'],
  ])('blanks %s', (_, text, code) => {
    expect(codeOf(text)).toBe(code)
  })

  test('takes a slash after a value for a division', () => {
    expect(codeOf("a / b + 'c' / (d) / e")).toBe("a / b + ' ' / (d) / e")
  })

  test('keeps only comments in the view of comments', () => {
    expect(scanSource('a.ts', "'// a' // b").comments).toBe('       // b')
  })

  test('lists strings and pieces of templates in order', () => {
    expect(stringsOf("'a' + `b${c('d')}e`")).toEqual(['a', 'b', 'd', 'e'])
  })
})

describe('lineAt', () => {
  test('counts from one', () => {
    expect([0, 1, 2, 3].map((offset) => lineAt('a\n\nb', offset))).toEqual([1, 1, 2, 3])
  })
})
