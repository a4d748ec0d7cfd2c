import { describe, expect, test } from 'vitest'
import { type Exception, excuse, staleProblems } from './exceptions.ts'
import { type Problem, repositoryOf } from './repository.ts'

const repository = repositoryOf({ 'src/a/b.ts': '', 'src/c.ts': '' })
const long: Problem = { file: 'src/a/b.ts', line: 1, rule: 'file of 700 lines', instead: '' }

function anException(file: string, rule: string): Exception {
  return { file, rule, why: '' }
}

describe('excuse', () => {
  test('takes off what a file or a folder is excused for', () => {
    expect(excuse([long], [anException('src/a/b.ts', 'file of 700')])).toEqual([])
    expect(excuse([long], [anException('src/a/', 'file of 700')])).toEqual([])
  })

  test('keeps what grew, and what another file is excused for', () => {
    expect(excuse([long], [anException('src/a/b.ts', 'file of 690')])).toEqual([long])
    expect(excuse([long], [anException('src/c.ts', 'file of 700')])).toEqual([long])
  })
})

describe('staleProblems', () => {
  const stale = (exception: Exception) => staleProblems(repository, [long], [exception])

  test('finds an exception that excuses nothing', () => {
    expect(stale(anException('src/a/b.ts', 'file of 700'))).toEqual([])
    expect(stale(anException('src/a/b.ts', 'file of 800'))).toHaveLength(1)
  })

  test('keeps one for a folder without files yet', () => {
    expect(stale(anException('src/later/', 'file of 700'))).toEqual([])
  })
})
