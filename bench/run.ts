/**
 * Runs benchmarks by name: `npm run bench -- billing memory --size smoke`. Without a name it lists
 * them. `--seed` is for those that draw what they do: the same seed does the same again.
 */

import { parseArgs } from 'node:util'
import { SIZES, type Size } from './support/size.ts'

/** What a file of this folder exports. */
type Benchmark = (size: Size, seed?: number) => Promise<void>

const BENCHMARKS: Readonly<Record<string, () => Promise<{ readonly run: Benchmark }>>> = {
  'absent-keys': () => import('./absent-keys.ts'),
  aggregates: () => import('./aggregates.ts'),
  billing: () => import('./billing.ts'),
  bootstrap: () => import('./bootstrap.ts'),
  cost: () => import('./cost.ts'),
  'engine-ingest': () => import('./engine-ingest.ts'),
  'full-stack-insert-scan': () => import('./full-stack-insert-scan.ts'),
  growth: () => import('./growth.ts'),
  histories: () => import('./histories.ts'),
  ingest: () => import('./ingest.ts'),
  memory: () => import('./memory.ts'),
  'mt-tablet': () => import('./mt-tablet.ts'),
  'point-reads': () => import('./point-reads.ts'),
  scans: () => import('./scans.ts'),
  'stored-bytes': () => import('./stored-bytes.ts'),
  tpch: () => import('./tpch.ts'),
  'tpch-real-world': () => import('./tpch-real-world.ts'),
  'write-path': () => import('./write-path.ts'),
  ycsb: () => import('./ycsb.ts'),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { size: { type: 'string', default: 'full' }, seed: { type: 'string' } },
})

function sizeOf(text: string): Size {
  const size = SIZES.find((one) => one === text)
  if (size === undefined) throw new Error(`--size is one of ${SIZES.join(', ')}`)
  return size
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seed = Number(text)
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error('--seed is an integer from 0 on')
  return seed
}

if (positionals.length === 0) {
  process.stdout.write(`benchmarks: ${Object.keys(BENCHMARKS).join(', ')}\n`)
  process.exitCode = 1
}
for (const name of positionals) {
  if (BENCHMARKS[name] === undefined) throw new Error(`there is no benchmark ${name}`)
  const { run } = await BENCHMARKS[name]()
  process.stdout.write(`\n${name}\n`)
  await run(sizeOf(values.size), seedOf(values.seed))
}
