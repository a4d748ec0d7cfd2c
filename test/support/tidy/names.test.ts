import { describe, expect, test } from 'vitest'
import { fileNameProblems, kebab, mirrorProblems } from './names.ts'
import { repositoryOf } from './repository.ts'

function rules(path: string, text: string): string[] {
  return fileNameProblems(repositoryOf({ [path]: text })).map((it) => it.instead)
}

describe('kebab', () => {
  test.each([
    ['MemRowSet', 'mem-row-set'],
    ['lowerBound', 'lower-bound'],
    ['STATUS_CODE', 'status-code'],
    ['crc32c', 'crc32c'],
    ['HTTPServer', 'http-server'],
  ])('writes %s as %s', (name, expected) => {
    expect(kebab(name)).toBe(expected)
  })
})

describe('fileNameProblems', () => {
  test('gives a file with one export its name', () => {
    expect(rules('src/tablet/mem-row-set.ts', 'export class MemRowSet {}')).toEqual([])
    expect(rules('src/tablet/memory.ts', 'export class MemRowSet {}')).toEqual([
      'call it mem-row-set.ts',
    ])
  })

  test('lets the folder supply the last word', () => {
    expect(rules('src/cfile/encoding/plain.ts', 'export class PlainEncoding {}')).toEqual([])
    expect(rules('src/api/routes/scan.ts', 'export const scanRoute = 1')).toEqual([])
  })

  test('lets a function leave out its verb', () => {
    expect(rules('src/catalog/limits.ts', 'export function checkLimits() {}')).toEqual([])
    expect(rules('src/catalog/set.ts', 'export class RowSet {}')).toEqual(['call it row-set.ts'])
  })

  test('lets several exports share a topic that says something', () => {
    const text = 'export const a = 1\nexport const b = 2'

    expect(rules('src/util/varint.ts', text)).toEqual([])
    expect(rules('src/util/utils.ts', text)).toEqual(['name it after what it exports'])
  })

  test('asks for kebab-case everywhere', () => {
    expect(rules('scripts/doIt.ts', '')).toEqual(['write it in kebab-case'])
    expect(rules('test/a/mem-row-set.golden.test.ts', '')).toEqual([])
  })
})

describe('mirrorProblems', () => {
  function lost(path: string, ...others: string[]): boolean {
    const files = Object.fromEntries([path, ...others].map((it) => [it, '']))
    return mirrorProblems(repositoryOf(files)).length > 0
  }

  test.each([
    ['test/tablet/disk/a.test.ts', 'src/tablet/disk/a.ts'],
    ['test/tablet/a.locks.test.ts', 'src/tablet/a.ts'],
    ['test/server/a.workerd.test.ts', 'src/server/a.ts'],
    ['test/scripts/a.test.ts', 'scripts/a.ts'],
  ])('finds the home of %s', (path, home) => {
    expect(lost(path, home)).toBe(false)
    expect(lost(path)).toBe(true)
  })

  test.each(['test/tidy.test.ts', 'test/e2e/a.e2e.test.ts', 'test/support/a/b.test.ts'])(
    'lets %s stand apart',
    (path) => {
      expect(lost(path)).toBe(false)
    },
  )
})
