import { describe, expect, test } from 'vitest'
import { exportsOf, functionsOf } from './declarations.ts'
import { scanSource } from './source.ts'

function exported(text: string): string[] {
  return exportsOf(scanSource('a.ts', text)).map((it) => it.name)
}

function documented(text: string): boolean[] {
  return exportsOf(scanSource('a.ts', text)).map((it) => it.isDocumented)
}

function measured(text: string): [string, number][] {
  return functionsOf(scanSource('a.ts', text)).map((it) => [it.name, it.lineCount])
}

describe('exportsOf', () => {
  test('finds every kind of declaration', () => {
    const lines = [
      'export const A = 1',
      'export function b() {}',
      'export async function c() {}',
      'export function* d() {}',
      'export class E {}',
      'export abstract class F {}',
      'export interface G {}',
      'export type H = 1',
      'export default class I {}',
      'export let j = 1',
    ]

    expect(exported(lines.join('\n')).join('')).toBe('AbcdEFGHIj')
  })

  test('passes over re-exports and what is not exported', () => {
    expect(exported("export { a } from './a.ts'\nexport type { B }\nconst c = 1")).toEqual([])
  })

  test('asks for a doc comment directly above', () => {
    expect(documented('/** A. */\nexport const A = 1')).toEqual([true])
    expect(documented('/**\n * A.\n */\nexport const A = 1')).toEqual([true])
    expect(documented('export const A = 1')).toEqual([false])
    expect(documented('// A.\nexport const A = 1')).toEqual([false])
    expect(documented('/* A. */\nexport const A = 1')).toEqual([false])
    expect(documented('/** Of the file. */\n\nexport const A = 1')).toEqual([false])
    expect(documented('/** B. */\nconst b = 1\nexport const A = 1')).toEqual([false])
    expect(documented('/** B. */ const b = 1 /* c */\nexport const A = 1')).toEqual([false])
  })

  test('takes the doc comment of the first overload for all', () => {
    const text = '/** A. */\nexport function a(b: 1): 1\nexport function a(b: 2): 2\n'

    expect(documented(text)).toEqual([true, true])
  })
})

describe('functionsOf', () => {
  test.each([
    ['function a() {\n}', 'a'],
    ['export async function a(b: number): Promise<{ c: 1 }> {\n}', 'a'],
    ['function* a<B extends () => void>(b: B): { c: B } | undefined {\n}', 'a'],
    ['const a = function () {\n}', 'function'],
    ['const a = (b) => {\n}', 'arrow function'],
  ])('measures %j', (text, name) => {
    expect(measured(text)).toEqual([[name, 2]])
  })

  test('measures methods, accessors and constructors', () => {
    const text = [
      'class A {',
      '  constructor(b: number) {',
      '  }',
      '  static async b(): Promise<void> {',
      '  }',
      '  get c(): number {',
      '    return 1',
      '  }',
      '  #d<E>(',
      '    e: E,',
      '  ): asserts e is E {',
      '  }',
      '}',
    ]

    expect(measured(text.join('\n'))).toEqual([
      ['constructor', 2],
      ['b', 2],
      ['c', 3],
      ['#d', 4],
    ])
  })

  test('takes no statement, call, type or overload for a function', () => {
    const text = [
      'if (a) {\n}',
      'for (const b of c) {\n}',
      'while (d) {\n}',
      'switch (e(f)) {\n  case g(h): {\n  }\n}',
      'try {\n} catch (i) {\n}',
      'j(k, {\n})',
      'const l = m ? n(o) : {\n}',
      'interface P {\n  q(r: s): t\n}',
      'function u(v: 1): 1',
      'class W {\n}',
    ]

    expect(measured(text.join('\n'))).toEqual([])
  })

  test('is not misled by braces in strings and comments', () => {
    expect(measured("function a() {\n  b('}') // }\n}\nc")).toEqual([['a', 3]])
  })
})
