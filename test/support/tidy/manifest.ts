import { importsOf } from './imports.ts'
import type { Problem, Repository } from './repository.ts'
import { matchLines } from './source.ts'

/** What the Worker is built from besides this repository. Adding one is a decision of its own. */
export const RUNTIME_DEPENDENCIES = ['@hono/zod-openapi', 'hono', 'hyparquet-writer', 'zod']

const MANIFEST = 'package.json'
const LOCK = 'package-lock.json'
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/
const RESOLVED = /"resolved":/g
const REGISTRY = /\bregistry\.(?:npmjs|yarnpkg|npmmirror)/g
const MACHINE_PATH = /(?<![\w.~*-])\/(?:work|root|home\/\w+|tmp\/bash\w*)\//g

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Runtime dependencies are the list above, exact in version, and each is used. */
export function dependencyProblems({ texts, sources }: Repository): Problem[] {
  const manifest = JSON.parse(texts.get(MANIFEST) ?? '{}') as Manifest
  const runtime = Object.keys(manifest.dependencies ?? {})
  const specifiers = sources
    .filter((source) => source.path.startsWith('src/'))
    .flatMap((source) => importsOf(source).map((it) => it.specifier))
  const isUsed = (name: string) => specifiers.some((it) => it === name || it.startsWith(`${name}/`))
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })

  return [
    ...runtime
      .filter((name) => !RUNTIME_DEPENDENCIES.includes(name))
      .map((name) => problem(name, 'is not on the list', 'do without it, or decide to list it')),
    ...RUNTIME_DEPENDENCIES.filter((name) => !runtime.includes(name)) //
      .map((name) => problem(name, 'is listed but not installed', 'take it off the list')),
    ...runtime
      .filter((name) => !isUsed(name))
      .map((name) => problem(name, 'is not imported by src/', 'remove it')),
    ...versions
      .filter(([, version]) => !EXACT.test(version))
      .map(([name]) => problem(name, 'has a range for a version', 'pin it')),
  ]
}

function problem(name: string, what: string, instead: string): Problem {
  return { file: MANIFEST, line: 1, rule: `dependency ${name} ${what}`, instead }
}

/** Nothing in the repository names the machine or the registry it was made with. */
export function originProblems({ texts }: Repository): Problem[] {
  return [...texts].flatMap(([file, text]) => [
    ...(file === LOCK
      ? found(file, text, RESOLVED, 'run npm install again: .npmrc omits these')
      : []),
    ...found(file, text, REGISTRY, 'leave the registry to the configuration of whoever installs'),
    ...found(file, text, MACHINE_PATH, 'write a path relative to the repository'),
  ])
}

function found(file: string, text: string, pattern: RegExp, instead: string): Problem[] {
  return [...matchLines(text, pattern)].map(([words, line]) => {
    return { file, line, rule: `origin ${words}`, instead }
  })
}
