import { posix } from 'node:path'
import { lineAt, type Source } from './source.ts'

/** One import, re-export or dynamic import. */
export interface Import {
  /** As written. */
  readonly specifier: string
  /** Path from the root for a relative specifier, else undefined: a package. */
  readonly path: string | undefined
  /** Leaves nothing behind when types are erased. `import { type A }` does leave something. */
  readonly isTypeOnly: boolean
  readonly line: number
}

const STATEMENT = /\b(import|export)\b(?!.*\b(?:import|export)\b)([\w\s{},*$]*)\bfrom\s*['"]$/s
const TYPE_STATEMENT = /^(import|export)\s+type\s+[\w{*]/
const SIDE_EFFECT = /(?:^|[\n;])\s*import\s*['"]$/
const DYNAMIC = /\bimport\s*\(\s*['"]$/
const TYPE_POSITION = /(?:\btypeof|[:<|&])\s*import\s*\(\s*['"]$/
const STATEMENT_LENGTH_MAX = 4_000

/** Every import of a file, in order. */
export function importsOf(source: Source): Import[] {
  const imports: Import[] = []
  for (const piece of source.strings) {
    const before = source.code.slice(Math.max(0, piece.start - STATEMENT_LENGTH_MAX), piece.start)
    const isTypeOnly = typeOnlyImport(before)
    if (isTypeOnly === undefined) continue
    const specifier = source.text.slice(piece.start, piece.end)
    const isRelative = specifier.startsWith('.')
    imports.push({
      specifier,
      path: isRelative ? posix.join(posix.dirname(source.path), specifier) : undefined,
      isTypeOnly,
      line: lineAt(source.text, piece.start),
    })
  }
  return imports
}

/** Whether an import is of types only, by the code before its string; undefined for no import. */
function typeOnlyImport(before: string): boolean | undefined {
  if (/\bfrom\s*['"]$/.test(before)) {
    const start = Math.max(before.lastIndexOf('import '), before.lastIndexOf('export '))
    const statement = start === -1 ? null : STATEMENT.exec(before.slice(start))
    return statement === null ? undefined : TYPE_STATEMENT.test(statement[0])
  }
  if (SIDE_EFFECT.test(before)) return false
  if (DYNAMIC.test(before)) return TYPE_POSITION.test(before)
  return undefined
}
