import { describe, expect, test } from 'vitest'
import { repositoryOf } from './repository.ts'
import { fileBytesProblems, sizeProblems } from './sizes.ts'

function rules(path: string, text: string): string[] {
  return sizeProblems(repositoryOf({ [path]: text })).map((it) => it.rule)
}

describe('sizeProblems', () => {
  test('allows a source file 600 lines and a test file 500', () => {
    expect(rules('src/a.ts', 'a\n'.repeat(600))).toEqual([])
    expect(rules('src/a.ts', 'a\n'.repeat(601))).toEqual(['file of 601 lines, limit is 600'])
    expect(rules('test/a.test.ts', 'a\n'.repeat(501))).toEqual(['file of 501 lines, limit is 500'])
  })

  test('allows a function 70 lines, its first and last included', () => {
    const functionOf = (lines: number) => `function a() {${'\n'.repeat(lines - 1)}}`

    expect(rules('src/a.ts', functionOf(70))).toEqual([])
    expect(rules('src/a.ts', functionOf(71))).toEqual(['a of 71 lines, limit is 70'])
    expect(rules('test/a.test.ts', functionOf(71))).toEqual([])
  })

  test('allows a line 100 characters', () => {
    expect(rules('src/a.ts', '─'.repeat(100))).toEqual([])
    expect(rules('src/a.ts', '─'.repeat(101))).toEqual(['line of 101 columns, limit is 100'])
    expect(rules('src/a.ts', '😀'.repeat(100))).toEqual([])
  })
})

describe('fileBytesProblems', () => {
  test('finds a file over 256 KiB that is not golden', () => {
    const text = 'a'.repeat(256 * 1024 + 1)
    const repository = repositoryOf({ 'a.txt': text, 'test/golden/b.txt': text })

    expect(fileBytesProblems(repository).map((it) => it.file)).toEqual(['a.txt'])
  })
})
