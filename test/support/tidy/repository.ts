import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Source, scanSource } from './source.ts'

/** One thing to mend. */
export interface Problem {
  readonly file: string
  /** From 1; 1 when the whole file is meant. */
  readonly line: number
  readonly rule: string
  /** What to do about it, as an imperative. */
  readonly instead: string
}

/** A rule looks at the whole repository and says what breaks it. */
export type Rule = (repository: Repository) => Problem[]

/** The files of the project as text: what git tracks, and what it would track. */
export interface Repository {
  /** Text by path from the root, `/` between folders. Binary files are absent. */
  readonly texts: ReadonlyMap<string, string>
  /** Size in bytes of every file by path. */
  readonly sizes: ReadonlyMap<string, number>
  /** The TypeScript files among them, scanned once for all rules. */
  readonly sources: readonly Source[]
}

/** Prints a problem as `file:line: rule — do this instead`. */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}: ${problem.rule} — ${problem.instead}`
}

/** Reads the repository at `root`. Needs git, which also knows what to ignore. */
export function readRepository(root: string): Repository {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const names = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0')
  const texts = new Map<string, string>()
  const sizes = new Map<string, number>()
  for (const name of new Set(names)) {
    const path = join(root, name)
    const stat = name === '' ? undefined : statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile() !== true) continue
    sizes.set(name, stat.size)
    const text = readFileSync(path, 'utf8')
    if (!text.includes('\0')) texts.set(name, text)
  }
  return { texts, sizes, sources: scanAll(texts) }
}

/** A repository of just these files, for the tests of the rules. */
export function repositoryOf(files: Readonly<Record<string, string>>): Repository {
  const texts = new Map(Object.entries(files))
  const sizes = new Map([...texts].map(([path, text]) => [path, Buffer.byteLength(text)]))
  return { texts, sizes, sources: scanAll(texts) }
}

function scanAll(texts: ReadonlyMap<string, string>): Source[] {
  return [...texts]
    .filter(([path]) => path.endsWith('.ts'))
    .map(([path, text]) => scanSource(path, text))
}
