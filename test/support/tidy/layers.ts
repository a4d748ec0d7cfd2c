import { type Import, importsOf } from './imports.ts'
import type { Problem, Repository } from './repository.ts'
import { matchLines, type Source } from './source.ts'

interface Layer {
  /** Folders of `src/` it may import, besides itself. */
  readonly imports: readonly string[]
  /** Folders of which it may import types only. */
  readonly types?: readonly string[]
  /** Packages and modules of the platform; `name/` also stands for everything below. */
  readonly packages?: readonly string[]
}

const WEB_PACKAGES = ['hono', 'hono/', 'zod', '@hono/zod-openapi']

/**
 * Who may import whom. The engine does not know that it is on Cloudflare, a thin layer does, the
 * front knows neither's insides. The rest follows from this table.
 */
export const LAYERS: Readonly<Record<string, Layer>> = {
  util: { imports: [] },
  common: { imports: ['util'] },
  cfile: { imports: ['util', 'common'], packages: ['node:zlib'] },
  tablet: { imports: ['util', 'common', 'cfile'] },
  catalog: { imports: ['util', 'common'] },
  wire: { imports: ['util', 'common'], packages: ['zod'] },
  router: { imports: ['util', 'common', 'catalog', 'wire'] },
  server: {
    imports: ['util', 'common', 'cfile', 'tablet', 'catalog', 'wire'],
    packages: ['cloudflare:workers', 'cloudflare:durable-objects'],
  },
  api: {
    imports: ['util', 'common', 'catalog', 'wire', 'router'],
    types: ['server'],
    packages: [
      ...WEB_PACKAGES,
      'hyparquet-writer',
      'hyparquet-writer/',
      'node:zlib',
      'node:crypto',
    ],
  },
  client: { imports: ['util', 'common', 'wire'] },
  cli: { imports: ['util', 'common', 'wire', 'client'], packages: ['node:'] },
  console: { imports: ['util', 'common', 'wire', 'client'] },
}

/** What `src/index.ts` puts together. */
const ENTRY: Layer = { imports: ['api', 'server'], packages: [] }

const ENGINE = ['util', 'common', 'cfile', 'tablet']
const PLATFORM_FREE = [...ENGINE, 'catalog', 'wire', 'router', 'client', 'cli', 'console']
const PLATFORM_TYPE = /\b(?:DurableObject\w*|SqlStorage\w*|ExecutionContext|Cloudflare\.\w+)\b/g
const TIMER = /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|fetch)\s*\(/g
const WAITING = /\b(?:async|await|Promise)\b/g

/** Folder of `src/` a path lies in, `''` for `src/index.ts`, undefined outside of `src/`. */
export function layerOf(path: string): string | undefined {
  const parts = path.split('/')
  if (parts[0] !== 'src') return undefined
  return parts.length === 2 ? '' : parts[1]
}

/** Imports point only where the table of layers allows. */
export function layerProblems({ sources }: Repository): Problem[] {
  return sources.flatMap((source) => {
    const name = layerOf(source.path)
    if (name === undefined || source.path.endsWith('.d.ts')) return []
    const layer = name === '' ? ENTRY : LAYERS[name]
    if (layer === undefined) {
      const instead = `add src/${name} to the table in test/support/tidy/layers.ts`
      return [{ file: source.path, line: 1, rule: 'unknown layer', instead }]
    }
    return importsOf(source).flatMap((it) => importProblem(source, name, layer, it))
  })
}

/** The engine waits for nothing and takes nothing of the platform. */
export function platformProblems({ sources }: Repository): Problem[] {
  return sources.flatMap((source) => {
    const layer = layerOf(source.path) ?? ''
    const isEngine = ENGINE.includes(layer)
    return [
      ...(PLATFORM_FREE.includes(layer)
        ? wordProblems(source, PLATFORM_TYPE, 'platform type', 'take a small interface as a port')
        : []),
      ...(isEngine
        ? wordProblems(source, TIMER, 'timer or fetch in the engine', 'let src/server own it')
        : []),
      ...(isEngine
        ? wordProblems(source, WAITING, 'engine waits', 'return, and let src/server await')
        : []),
    ]
  })
}

function wordProblems(source: Source, words: RegExp, rule: string, instead: string): Problem[] {
  return [...matchLines(source.code, words)].map(([word, line]) => {
    return { file: source.path, line, rule: `${rule} (${word.trim()})`, instead }
  })
}

function importProblem(source: Source, name: string, layer: Layer, it: Import): Problem[] {
  const instead = refusal(name, layer, it)
  return instead === undefined
    ? []
    : [{ file: source.path, line: it.line, rule: `layer imports ${it.specifier}`, instead }]
}

/** Why an import is not allowed, or undefined when it is. */
function refusal(name: string, layer: Layer, it: Import): string | undefined {
  if (it.path === undefined) {
    const isAllowed = layer.packages?.some((allowed) => isWithin(it.specifier, allowed))
    return isAllowed ? undefined : 'pass it in as a port, or move this to a layer that may'
  }
  if (it.path.startsWith('migrations/') && name === 'server') return undefined
  const target = layerOf(it.path)
  if (target === undefined) return 'import only from src/'
  if (target === name || layer.imports.includes(target)) return undefined
  if (!layer.types?.includes(target)) {
    const allowed = [...layer.imports, ...(layer.types ?? [])].join(', ') || 'nothing'
    return `src/${name} may import ${allowed}; move the shared part down, or take it as an argument`
  }
  return it.isTypeOnly ? undefined : 'write `import type`: only types may cross here'
}

function isWithin(specifier: string, allowed: string): boolean {
  return /[/:]$/.test(allowed) ? specifier.startsWith(allowed) : specifier === allowed
}
