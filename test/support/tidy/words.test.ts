import { describe, expect, test } from 'vitest'
import { repositoryOf } from './repository.ts'
import { bannedWordProblems, docCommentProblems, sqlProblems } from './words.ts'

function banned(path: string, text: string): string[] {
  return bannedWordProblems(repositoryOf({ [path]: text })).map((it) => it.rule)
}

describe('bannedWordProblems', () => {
  test.each([
    ['src/tablet/a.ts', 'Date.now()', 'Date.now'],
    ['src/api/a.ts', 'new Date()', 'new Date()'],
    ['src/tablet/a.ts', 'const now = Date.now', 'Date.now'],
    ['test/a.test.ts', 'Math.random()', 'Math.random'],
    ['src/server/a.ts', 'console.log(1)', 'console.log'],
    ['src/a.ts', 'a as any', 'as any'],
    ['src/a.ts', '// @ts-ignore', '@ts-ignore'],
    ['test/a.test.ts', 'test.only(1)', 'test.only'],
    ['test/a.test.ts', 'describe.concurrent.skip(1)', 'describe.concurrent.skip'],
    ['src/a.ts', '/* TODO more */', 'TODO'],
  ])('finds in %s: %s', (path, text, word) => {
    expect(banned(path, text)).toEqual([`banned: ${word}`])
  })

  test.each([
    ['src/server/system-clock.ts', 'Date.now()'],
    ['scripts/a.ts', 'console.log(Date.now())'],
    ['src/cli/a.ts', 'console.log(1)'],
    ['src/tablet/a.ts', "'Date.now()'"],
    ['src/tablet/a.ts', '// never Date.now()'],
    ['src/tablet/a.ts', 'new Date(micros)'],
    ['src/cfile/a.ts', 'reader.skip(3)'],
    ['src/a.ts', 'const TODO = 1'],
  ])('allows in %s: %s', (path, text) => {
    expect(banned(path, text)).toEqual([])
  })

  test('gives the line', () => {
    const [problem] = bannedWordProblems(repositoryOf({ 'src/a.ts': '\n\nMath.random()' }))

    expect(problem.line).toBe(3)
  })
})

describe('docCommentProblems', () => {
  test.each(['common', 'cfile', 'tablet', 'server'])('looks at %s', (layer) => {
    const text = '/** A. */\nexport const A = 1\nexport const B = 2'
    const problems = docCommentProblems(repositoryOf({ [`src/${layer}/a.ts`]: text }))

    expect(problems.map((it) => it.rule)).toEqual(['export B has no doc comment'])
  })

  test('leaves the other layers alone', () => {
    expect(docCommentProblems(repositoryOf({ 'src/cli/a.ts': 'export const A = 1' }))).toEqual([])
  })
})

describe('sqlProblems', () => {
  const isFound = (path: string, text: string) =>
    sqlProblems(repositoryOf({ [path]: text })).length > 0

  test.each([
    'SELECT a FROM b',
    '\n  SELECT a,\n  b FROM c',
    'INSERT OR REPLACE INTO a VALUES (?)',
    'UPDATE a SET b = 1',
    'DELETE FROM a',
    'CREATE TABLE a (b)',
    'DROP TABLE ',
    'PRAGMA a',
  ])('finds %j', (sql) => {
    expect(isFound('src/server/a.ts', `run(\`${sql}\`)`)).toBe(true)
    expect(isFound('src/server/sql-statements.ts', `run(\`${sql}\`)`)).toBe(false)
    expect(isFound('test/a.ts', `run(\`${sql}\`)`)).toBe(false)
  })

  test.each(["'SELECT'", "'INSERT'", "'select a table from the list'", '// SELECT a FROM b'])(
    'does not take %s for SQL',
    (text) => {
      expect(isFound('src/api/a.ts', text)).toBe(false)
    },
  )
})
