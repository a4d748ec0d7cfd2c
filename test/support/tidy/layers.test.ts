import { describe, expect, test } from 'vitest'
import { layerProblems, platformProblems } from './layers.ts'
import { formatProblem, repositoryOf } from './repository.ts'

function refused(path: string, text: string): boolean {
  return layerProblems(repositoryOf({ [path]: text })).length > 0
}

describe('layerProblems', () => {
  test.each([
    ['src/common/a.ts', '../util/b.ts'],
    ['src/tablet/disk/a.ts', '../../cfile/b.ts'],
    ['src/tablet/disk/a.ts', '../memory/b.ts'],
    ['src/cfile/a.ts', 'node:zlib'],
    ['src/wire/a.ts', 'zod'],
    ['src/server/a.ts', 'cloudflare:workers'],
    ['src/server/a.ts', '../../migrations/tablet/0001_init.sql'],
    ['src/api/routes/a.ts', 'hono/cors'],
    ['src/cli/a.ts', 'node:fs'],
    ['src/index.ts', './server/a.ts'],
    ['test/a.test.ts', '../src/tablet/a.ts'],
  ])('lets %s import %s', (path, specifier) => {
    expect(refused(path, `import { b } from '${specifier}'`)).toBe(false)
  })

  test.each([
    ['src/util/a.ts', '../common/b.ts'],
    ['src/cfile/a.ts', '../tablet/b.ts'],
    ['src/tablet/a.ts', '../catalog/b.ts'],
    ['src/tablet/a.ts', 'cloudflare:workers'],
    ['src/tablet/a.ts', 'zod'],
    ['src/tablet/a.ts', 'node:zlib'],
    ['src/router/a.ts', '../server/b.ts'],
    ['src/server/a.ts', 'hono'],
    ['src/server/a.ts', '../api/b.ts'],
    ['src/api/a.ts', '../tablet/b.ts'],
    ['src/api/a.ts', '../server/b.ts'],
    ['src/api/a.ts', 'cloudflare:workers'],
    ['src/client/a.ts', '../api/b.ts'],
    ['src/index.ts', './tablet/b.ts'],
    ['src/util/a.ts', '../../test/support/b.ts'],
    ['src/elsewhere/a.ts', './b.ts'],
  ])('refuses %s to import %s', (path, specifier) => {
    expect(refused(path, `import { b } from '${specifier}'`)).toBe(true)
  })

  test('lets api see the types of server, but not through an import that runs', () => {
    expect(refused('src/api/a.ts', "import type { B } from '../server/b.ts'")).toBe(false)
    expect(refused('src/api/a.ts', "import { type B } from '../server/b.ts'")).toBe(true)
  })

  test('holds for types too', () => {
    expect(refused('src/tablet/a.ts', "import type { B } from '../server/b.ts'")).toBe(true)
  })

  test('says where and what to do', () => {
    const [problem] = layerProblems(
      repositoryOf({ 'src/common/a.ts': "\nimport { b } from '../wire/b.ts'" }),
    )

    expect(formatProblem(problem)).toBe(
      'src/common/a.ts:2: layer imports ../wire/b.ts — src/common may import util; ' +
        'move the shared part down, or take it as an argument',
    )
  })
})

describe('platformProblems', () => {
  test.each(['setTimeout(f, 1)', 'fetch(a)', 'await a', 'let a: Promise<b>', 'let a: SqlStorage'])(
    'keeps %j out of the engine',
    (text) => {
      expect(platformProblems(repositoryOf({ 'src/tablet/a.ts': text }))).toHaveLength(1)
      expect(platformProblems(repositoryOf({ 'src/server/a.ts': text }))).toEqual([])
    },
  )

  test('lets the router wait, but not name the platform', () => {
    const text = 'await a\nlet b: DurableObjectStub'

    expect(platformProblems(repositoryOf({ 'src/router/a.ts': text }))).toHaveLength(1)
  })
})
