import { describe, expect, test } from 'vitest'
import { changelogProblems, markdownProblems } from './markdown.ts'
import { repositoryOf } from './repository.ts'

const MANIFEST = JSON.stringify({ version: '1.2.0', scripts: { dev: '' } })

function rules(text: string): string[] {
  const files = { 'docs/a.md': text, 'README.md': '# B', 'src/c.ts': '', 'package.json': MANIFEST }
  return markdownProblems(repositoryOf(files)).map((it) => `${it.line}: ${it.rule}`)
}

describe('markdownProblems', () => {
  test('wants exactly one title', () => {
    expect(rules('text')).toEqual(['1: 0 titles'])
    expect(rules('# A\n\n# B')).toEqual(['3: 2 titles'])
    expect(rules('# A\n\n```sh\n# not a title\n```\n')).toEqual([])
  })

  test('follows relative links from where the document is', () => {
    expect(rules('# A\n[b](../README.md) [c](../src/c.ts) [d](https://e.example) [f](#g)')).toEqual(
      [],
    )
    expect(rules('# A\n[b](README.md)')).toEqual(['2: points at README.md'])
    expect(rules('# A\n[b](../README.md#part)')).toEqual([])
  })

  test('looks for paths named in backticks, files and folders', () => {
    expect(rules('# A\n`src/c.ts` `src/` `src` `src/<any>.ts` `any/other.ts`')).toEqual([])
    expect(rules('# A\n`src/d.ts` `test/e`')).toEqual([
      '2: points at src/d.ts',
      '2: points at test/e',
    ])
  })

  test('looks for scripts, in blocks too', () => {
    expect(rules('# A\n```sh\nnpm run dev\nnpm run fly\n```')).toEqual(['4: points at fly'])
  })
})

describe('changelogProblems', () => {
  const judge = (text: string) =>
    changelogProblems(repositoryOf({ 'CHANGELOG.md': text, 'package.json': MANIFEST })).map(
      (it) => `${it.line}: ${it.rule}`,
    )
  const newest = '# Changelog\n\n## [1.2.0] - Unreleased\n'

  test('accepts dated releases below one that is not released', () => {
    expect(judge(`${newest}\n### Added\n\n- A.\n\n## [1.1.9] - 2026-01-31\n`)).toEqual([])
    expect(judge('# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-02-01\n')).toEqual([])
  })

  test('finds what is out of shape', () => {
    expect(judge(newest.replace('# Changelog', '# News'))).toEqual(['1: changelog title'])
    expect(judge(`${newest}\n## 1.1.0\n`)).toEqual(['5: release heading'])
    expect(judge(`${newest}\n### New\n`)).toEqual(['5: group heading'])
  })

  test('wants the newest first, and that of package.json', () => {
    expect(judge(`${newest}\n## [1.10.0] - 2026-01-31\n`)).toEqual(['1: order of releases'])
    expect(judge('# Changelog\n\n## [1.1.0] - 2026-01-31\n')).toEqual([
      '1: newest release is not 1.2.0',
    ])
  })
})
