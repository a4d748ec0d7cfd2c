import { importsOf } from './imports.ts'
import type { Problem, Repository } from './repository.ts'

/** What runs by itself; everything in `src/` is there for one of these. */
const ENTRY =
  /^(?:src\/index\.ts|src\/(?:cli|client)\/(?:index|main|nyala)\.ts|(?:scripts|bench)\/.*\.ts)$/

/** No file imports itself through others. Types do not count: they are gone when the code runs. */
export function cycleProblems({ sources }: Repository): Problem[] {
  const edges = new Map<string, string[]>()
  for (const source of sources) {
    const values = importsOf(source).filter((it) => !it.isTypeOnly)
    edges.set(
      source.path,
      values.flatMap((it) => it.path ?? []),
    )
  }
  return findCycles(edges).map((cycle) => ({
    file: cycle[0],
    line: 1,
    rule: `import cycle ${[...cycle, cycle[0]].join(' → ')}`,
    instead: 'move what both need to a file of its own',
  }))
}

/** Every source file is reached from an entry; a type import reaches too. */
export function reachProblems({ sources }: Repository): Problem[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const reached = new Set<string>()
  const waiting = [...byPath.keys()].filter((path) => ENTRY.test(path))
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = byPath.get(path)
    if (source === undefined || reached.has(path)) continue
    reached.add(path)
    waiting.push(...importsOf(source).flatMap((it) => it.path ?? []))
  }
  const isLost = (path: string) =>
    path.startsWith('src/') && !path.endsWith('.d.ts') && !reached.has(path)
  return [...byPath.keys()].filter(isLost).map((file) => ({
    file,
    line: 1,
    rule: 'unreachable file',
    instead: 'import it from an entry, or delete it',
  }))
}

/** One cycle for each edge that closes one, found depth first. */
function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (node: string): void => {
    const at = path.indexOf(node)
    if (at !== -1) cycles.push(path.slice(at))
    if (at !== -1 || done.has(node)) return
    path.push(node)
    for (const next of edges.get(node) ?? []) visit(next)
    path.pop()
    done.add(node)
  }
  for (const node of edges.keys()) visit(node)
  return cycles
}
