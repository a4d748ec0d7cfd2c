import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PLANTED_BUGS } from './planted-bugs.ts'

const ROOT = join(import.meta.dirname, '..', '..')

describe('PLANTED_BUGS', () => {
  test.each(PLANTED_BUGS)('can be planted: $name', ({ file, text, replacement }) => {
    const source = readFileSync(join(ROOT, file), 'utf8')

    expect(source.split(text).length - 1, `occurrences of ${text} in ${file}`).toBe(1)
    expect(replacement).not.toBe(text)
  })

  test('have names of their own', () => {
    expect(new Set(PLANTED_BUGS.map(({ name }) => name)).size).toBe(PLANTED_BUGS.length)
  })
})
