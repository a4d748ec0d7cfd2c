import { posix } from 'node:path'
import type { Problem, Repository } from './repository.ts'

const LINK = /\]\(([^)\s]+)\)/g
const NAMED_PATH = /`((?:src|docs|test|scripts|migrations|bench|\.ci)\/[\w./-]*)`/g
const SCRIPT = /\bnpm run ([\w:-]+)/g
const PREFIXED = /^[a-z]+:/

/** Documents have one title, and what they point at is there. */
export function markdownProblems(repository: Repository): Problem[] {
  const { texts } = repository
  const scripts = Object.keys(readManifest(texts).scripts ?? {})
  const documents = [...texts].filter(([path]) => path.endsWith('.md'))
  return documents.flatMap(([file, text]) => [
    ...titles(file, text),
    ...eachMatch(file, withoutFences(text), LINK, (target) => brokenLink(repository, file, target)),
    ...eachMatch(file, withoutFences(text), NAMED_PATH, (path) => {
      return exists(repository, path) ? undefined : 'name a path that exists'
    }),
    ...eachMatch(file, text, SCRIPT, (script) => {
      return scripts.includes(script) ? undefined : 'name a script of package.json'
    }),
  ])
}

function titles(file: string, text: string): Problem[] {
  const lines = withoutFences(text).split('\n')
  const found = lines.flatMap((line, index) => (line.startsWith('# ') ? [index + 1] : []))
  if (found.length === 1) return []
  const rule = `${found.length} titles`
  return [{ file, line: found[1] ?? 1, rule, instead: 'write exactly one # title' }]
}

function brokenLink(repository: Repository, file: string, target: string): string | undefined {
  const [path] = target.split('#')
  if (PREFIXED.test(target) || path === '') return undefined
  const resolved = posix.join(posix.dirname(file), path)
  return exists(repository, resolved) ? undefined : 'link to a file that exists'
}

function exists({ texts, sizes }: Repository, path: string): boolean {
  if (texts.has(path) || sizes.has(path)) return true
  const folder = path.endsWith('/') ? path : `${path}/`
  return [...sizes.keys()].some((file) => file.startsWith(folder))
}

function eachMatch(
  file: string,
  text: string,
  pattern: RegExp,
  judge: (target: string) => string | undefined,
): Problem[] {
  return text.split('\n').flatMap((content, index) =>
    [...content.matchAll(pattern)].flatMap(([, target]) => {
      const instead = judge(target)
      return instead === undefined
        ? []
        : [{ file, line: index + 1, rule: `points at ${target}`, instead }]
    }),
  )
}

/** The text with fenced blocks emptied; their line ends stay. */
function withoutFences(text: string): string {
  return text.replace(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ''))
}

interface Manifest {
  readonly version?: string
  readonly scripts?: Readonly<Record<string, string>>
}

function readManifest(texts: ReadonlyMap<string, string>): Manifest {
  return JSON.parse(texts.get('package.json') ?? '{}') as Manifest
}

const CHANGELOG = 'CHANGELOG.md'
const RELEASE = /^## \[(?:Unreleased\]|(\d+\.\d+\.\d+)\] - (?:Unreleased|\d{4}-\d\d-\d\d))$/
const GROUP = /^### (?:Added|Changed|Deprecated|Removed|Fixed|Security)$/

/** The changelog has the shape that people and tools expect. */
export function changelogProblems({ texts }: Repository): Problem[] {
  const problems: Problem[] = []
  const report = (line: number, rule: string, instead: string): void => {
    problems.push({ file: CHANGELOG, line, rule, instead })
  }
  const versions: string[] = []
  const lines = (texts.get(CHANGELOG) ?? '').split('\n')
  if (lines[0] !== '# Changelog') report(1, 'changelog title', 'begin with # Changelog')
  for (const [index, content] of lines.entries()) {
    const version = RELEASE.exec(content)?.[1]
    if (version !== undefined) versions.push(version)
    if (content.startsWith('## ') && !RELEASE.test(content)) {
      report(
        index + 1,
        'release heading',
        'write ## [1.2.3] - 2026-01-31, or Unreleased for the date',
      )
    }
    if (content.startsWith('### ') && !GROUP.test(content)) {
      report(
        index + 1,
        'group heading',
        'use Added, Changed, Deprecated, Removed, Fixed or Security',
      )
    }
  }
  if (!isDescending(versions)) report(1, 'order of releases', 'put the newest first')
  const version = readManifest(texts).version
  if (version !== undefined && versions[0] !== version) {
    report(1, `newest release is not ${version}`, 'give the version of package.json a section')
  }
  return problems
}

function isDescending(versions: readonly string[]): boolean {
  const collator = new Intl.Collator('en', { numeric: true })
  return versions.every((it, index) => index === 0 || collator.compare(versions[index - 1], it) > 0)
}
