import { describe, expect, test } from 'vitest'
import { type Import, importsOf } from './imports.ts'
import { scanSource } from './source.ts'

function read(text: string): Import[] {
  return importsOf(scanSource('src/x/y.ts', text))
}

describe('importsOf', () => {
  test('resolves a relative specifier from the root', () => {
    expect(read("import { a } from '../z/a.ts'\nimport b from './b.ts'")).toEqual([
      { specifier: '../z/a.ts', path: 'src/z/a.ts', isTypeOnly: false, line: 1 },
      { specifier: './b.ts', path: 'src/x/b.ts', isTypeOnly: false, line: 2 },
    ])
  })

  test('leaves a package without a path', () => {
    expect(read("import { z } from 'zod'")[0].path).toBeUndefined()
  })

  test.each([
    "import type { A } from './a.ts'",
    "import type A from './a.ts'",
    "import type * as a from './a.ts'",
    "export type { A } from './a.ts'",
    "import type {\n  A,\n  B,\n} from './a.ts'",
    "type A = typeof import('./a.ts')",
    "let a: import('./a.ts').A",
  ])('sees that %j is of types only', (text) => {
    expect(read(text).map((it) => it.isTypeOnly)).toEqual([true])
  })

  test.each([
    "import { a } from './a.ts'",
    "import { type A } from './a.ts'",
    "import { type A, b } from './a.ts'",
    "import a, { type B } from './a.ts'",
    "import * as a from './a.ts'",
    "export { a } from './a.ts'",
    "export * from './a.ts'",
    "import './a.ts'",
    "const a = await import('./a.ts')",
  ])('sees that %j leaves something to run', (text) => {
    expect(read(text).map((it) => it.isTypeOnly)).toEqual([false])
  })

  test.each([
    "const a = './a.ts'",
    "// import { a } from './a.ts'",
    '`import { a } from "./a.ts"`',
    "call(from, './a.ts')",
    "export const from = './a.ts'",
  ])('finds none in %j', (text) => {
    expect(read(text)).toEqual([])
  })

  test('tells statements of one file apart', () => {
    const text = "import type { A } from './a.ts'\nimport { b } from './b.ts'\nexport const c = 'd'"

    expect(read(text).map((it) => it.isTypeOnly)).toEqual([true, false])
  })
})
