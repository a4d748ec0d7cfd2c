import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EXCEPTIONS, excuse, staleProblems } from './support/tidy/exceptions.ts'
import { formatProblem, readRepository } from './support/tidy/repository.ts'
import { RULES } from './support/tidy/rules.ts'

const repository = readRepository(dirname(import.meta.dirname))

describe('repository', () => {
  test.each(Object.entries(RULES))('%s', (_, rule) => {
    const problems = excuse(rule(repository), EXCEPTIONS)

    expect(problems.map(formatProblem)).toEqual([])
  })

  test('every exception still excuses something', () => {
    const problems = Object.values(RULES).flatMap((rule) => rule(repository))

    expect(staleProblems(repository, problems, EXCEPTIONS).map(formatProblem)).toEqual([])
  })
})
