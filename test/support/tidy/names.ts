import { posix } from 'node:path'
import { exportsOf } from './declarations.ts'
import type { Problem, Repository } from './repository.ts'
import type { Source } from './source.ts'

const VAGUE = /^(?:utils?|helpers?|types|misc|common|shared|stuff)$/
/** Folders of `test/` that are not a mirror of a source folder. */
const APART = /^(?:conformance|golden|sim|regressions|e2e|support|vectors)$/
/** Entries, a layer's ports and declarations of globals are called what they are. */
const EXEMPT = /^(?:index|ports|.*\.d)$/
const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9-]+)*$/

/** `MemRowSet`, `memRowSet` and `MEM_ROW_SET` are all `mem-row-set`. */
export function kebab(name: string): string {
  if (/^[A-Z0-9_]+$/.test(name)) return name.toLowerCase().replaceAll('_', '-')
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
}

/**
 * A file has its main export's name.
 *
 * With one export that is its name; the folder may supply the last word (`encoding/plain.ts` for
 * `PlainEncoding`), and the verb of a function may be left out (`row-errors.ts` for
 * `mergeRowErrors`). With several it may be the topic's name, unless that says nothing.
 */
export function fileNameProblems({ sources }: Repository): Problem[] {
  return sources.flatMap((source) => {
    const stem = posix.basename(source.path, '.ts')
    const problem = (rule: string, instead: string): Problem[] => {
      return [{ file: source.path, line: 1, rule, instead }]
    }
    if (!KEBAB.test(stem)) return problem('file name', 'write it in kebab-case')
    if (!source.path.startsWith('src/') || EXEMPT.test(stem)) return []
    if (VAGUE.test(stem)) return problem('file name says nothing', 'name it after what it exports')

    const names = [...new Set(exportsOf(source).map((it) => it.name))]
    if (names.length !== 1 || isNamedFor(source, stem, names[0])) return []
    return problem('file name is not that of its export', `call it ${kebab(names[0])}.ts`)
  })
}

function isNamedFor(source: Source, stem: string, name: string): boolean {
  const folder = posix.basename(posix.dirname(source.path))
  const full = kebab(name)
  if (/^[a-z]/.test(name) && full.replace(/^[a-z0-9]+-/, '') === stem) return true
  return [stem, `${stem}-${folder}`, `${stem}-${folder.replace(/s$/, '')}`].includes(full)
}

/** A test lies where its source file does. */
export function mirrorProblems({ texts }: Repository): Problem[] {
  return [...texts.keys()].flatMap((file) => {
    const match = /^test\/((?:[^/]+\/)+)([^/]+)\.test\.ts$/.exec(file)
    if (match === null || APART.test(match[1].split('/')[0])) return []
    const path = match[1] + match[2].split('.')[0]
    const homes = [`src/${path}.ts`, `${path}.ts`]
    if (homes.some((home) => texts.has(home))) return []
    const instead = `move it beside what it tests: there is no ${homes[0]}`
    return [{ file, line: 1, rule: 'test without a source file', instead }]
  })
}
