import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { VERSION } from '../../src/common/version.ts'

describe('VERSION', () => {
  test('is that of the package', () => {
    const text = readFileSync(`${import.meta.dirname}/../../package.json`, 'utf8')

    expect(VERSION).toBe(JSON.parse(text).version)
  })
})
