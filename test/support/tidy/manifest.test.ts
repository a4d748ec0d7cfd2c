import { describe, expect, test } from 'vitest'
import { dependencyProblems, originProblems, RUNTIME_DEPENDENCIES } from './manifest.ts'
import { repositoryOf } from './repository.ts'

const LISTED = Object.fromEntries(RUNTIME_DEPENDENCIES.map((name) => [name, '1.2.3']))
const USES = RUNTIME_DEPENDENCIES.map((name) => `import '${name}'`).join('\n')

function rules(dependencies: Record<string, string>, source = USES): string[] {
  const files = { 'package.json': JSON.stringify({ dependencies }), 'src/index.ts': source }
  return dependencyProblems(repositoryOf(files)).map((it) => it.rule)
}

describe('dependencyProblems', () => {
  test('accepts the list, pinned and used', () => {
    expect(rules(LISTED)).toEqual([])
  })

  test('finds one too many, one missing, one unused, one not pinned', () => {
    const { hono: _, ...withoutHono } = LISTED

    expect(rules({ ...LISTED, 'left-pad': '1.0.0' }, `${USES}\nimport 'left-pad'`)).toEqual([
      'dependency left-pad is not on the list',
    ])
    expect(rules(withoutHono)).toEqual(['dependency hono is listed but not installed'])
    expect(rules(LISTED, USES.replace("import 'hono'", ''))).toEqual([
      'dependency hono is not imported by src/',
    ])
    expect(rules({ ...LISTED, hono: '^1.2.3' })).toEqual([
      'dependency hono has a range for a version',
    ])
  })

  test('counts a part of a package as a use of it', () => {
    expect(rules(LISTED, USES.replace("'hono'", "'hono/cors'"))).toEqual([])
  })
})

describe('originProblems', () => {
  const registry = `https://${['registry', 'npmjs', 'org'].join('.')}/a.tgz`
  const found = (path: string, text: string) => originProblems(repositoryOf({ [path]: text }))

  test('finds addresses in the lock file', () => {
    expect(found('package-lock.json', `{ "resolved": "${registry}" }`)).toHaveLength(2)
  })

  test.each(['work', 'root', 'home/me', 'tmp/bash_jobs'])('finds a path in /%s', (folder) => {
    expect(found('docs/a.md', `see /${folder}/a`)).toHaveLength(1)
  })

  test('leaves other paths alone', () => {
    expect(found('docs/a.md', '/tmp/a ./work/a src/root/a /api/v1')).toEqual([])
  })
})
