/**
 * The whole service in a workerd of its own, with a socket straight into it: what `wrangler dev`
 * puts between a client and the Worker costs more than the Worker does.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Miniflare } from 'miniflare'
import { heapBytes, type SelfTime, selfTimes } from './inspector.ts'
import { type RivalName, rivalWorker } from './rivals.ts'

const ROOT = dirname(dirname(import.meta.dirname))
const COMPATIBILITY_DATE = '2026-10-01'
/** A file system in memory, where there is one: disks differ, and are nobody's merit. */
const MEMORY_PATH = '/dev/shm'

/** A running service. */
export interface BenchService {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly address: string
  /** The same of the Worker over D1, if it runs. */
  readonly rivalAddress: string
  /** The same of any rival that runs. */
  readonly addressOf: (rival: RivalName) => string
  /** Bytes that live JavaScript and its buffers take after a forced collection. */
  readonly heapBytes: () => Promise<number>
  /** Functions of the service by their own share of its time while something goes on. */
  readonly selfTimes: (work: () => Promise<unknown>) => Promise<SelfTime[]>
  /**
   * Milliseconds of CPU that the service, and a rival beside it, took so far; NaN where the system
   * does not tell.
   */
  readonly cpuMs: () => number
  /** Most memory that both took at once, in bytes; NaN where the system does not tell. */
  readonly peakBytes: () => number
  readonly close: () => Promise<void>
}

/** What runs beside the service, in the same process. */
export interface BenchOptions {
  /** Whether a Worker over D1 does. */
  readonly hasRival?: boolean
  readonly rivals?: readonly RivalName[]
}

/** Starts the service on an empty state, with authentication off. */
export async function startService(options: BenchOptions = {}): Promise<BenchService> {
  const rivals: readonly RivalName[] = options.rivals ?? (options.hasRival === true ? ['d1'] : [])
  const parent = existsSync(MEMORY_PATH) ? MEMORY_PATH : tmpdir()
  const directory = await mkdtemp(join(parent, 'nyala-bench-'))
  const [port, inspectorPort] = [await freePort(), await freePort()]
  const rivalPorts = new Map<RivalName, number>()
  for (const rival of rivals) rivalPorts.set(rival, await freePort())
  const addressOf = (rival: RivalName): string => `http://127.0.0.1:${rivalPorts.get(rival)}`
  const inspectorUrl = `ws://127.0.0.1:${inspectorPort}/core:user:bench`
  const pingUrl = `http://127.0.0.1:${port}/healthz`
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    inspectorPort,
    resourcePersistencePath: join(directory, 'state'),
    workers: [
      {
        config: {
          name: 'bench',
          compatibilityDate: COMPATIBILITY_DATE,
          manifest: { mainModule: 'index.js', modules: await bundle(join(directory, 'bundle')) },
          env: {
            TABLET: { type: 'durable-object', worker: 'bench', exportName: 'TabletObject' },
            CATALOG: { type: 'durable-object', worker: 'bench', exportName: 'CatalogObject' },
            NYALA_AUTH: { type: 'text', value: 'disabled' },
            NYALA_LOG_LEVEL: { type: 'text', value: 'error' },
          },
          exports: {
            TabletObject: { type: 'durable-object', storage: 'sqlite' },
            CatalogObject: { type: 'durable-object', storage: 'sqlite' },
          },
        },
        dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port }] },
      },
      ...(await Promise.all(
        [...rivalPorts].map(([name, at]) => rivalWorker(name, at, COMPATIBILITY_DATE)),
      )),
    ],
  } as unknown as ConstructorParameters<typeof Miniflare>[0])
  await miniflare.ready
  return {
    address: `http://127.0.0.1:${port}`,
    rivalAddress: addressOf('d1'),
    addressOf,
    heapBytes: () => heapBytes(inspectorUrl, pingUrl),
    selfTimes: (work) => selfTimes(inspectorUrl, pingUrl, work),
    cpuMs: workerdCpuMs,
    peakBytes: workerdPeakBytes,
    close: async () => {
      await miniflare.dispose()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Ticks of the clock that Linux counts CPU in, a second. */
const TICKS = 100

function workerdCpuMs(): number {
  const fields = workerd()?.fields
  if (fields === undefined) return Number.NaN
  return ((Number(fields[12]) + Number(fields[13])) / TICKS) * 1000
}

function workerdPeakBytes(): number {
  const found = workerd()
  if (found === null) return Number.NaN
  const status = readFileSync(`/proc/${found.pid}/status`, 'utf8')
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024
}

/** The newest workerd that this process started; null when there is none, or no such list. */
function workerd(): { readonly pid: string; readonly fields: readonly string[] } | null {
  if (!existsSync('/proc/self/stat')) return null
  let found = null
  for (const pid of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(pid)) continue
    const fields = statOf(pid)
    if (fields?.[0] === 'workerd' && Number(fields[2]) === process.pid) found = { pid, fields }
  }
  return found
}

/** Name, state, parent and so on of a process; null when it has just ended. */
function statOf(pid: string): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const end = text.lastIndexOf(')')
    return [text.slice(text.indexOf('(') + 1, end), ...text.slice(end + 2).split(' ')]
  } catch {
    return null
  }
}

/** Builds the Worker as a deployment would. Returns: its modules by name. */
async function bundle(directory: string): Promise<Record<string, unknown>> {
  const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
  const built = spawnSync(
    process.execPath,
    [wrangler, 'deploy', '--dry-run', '--outdir', directory],
    { cwd: ROOT, encoding: 'utf8' },
  )
  if (built.status !== 0) throw new Error(`the Worker could not be built:\n${built.stderr}`)
  const modules: Record<string, unknown> = {}
  for (const name of await readdir(directory)) {
    if (!/\.(?:js|sql)$/.test(name)) continue
    const contents = await readFile(join(directory, name), 'utf8')
    modules[name] = { type: name.endsWith('.js') ? 'esm' : 'text', contents }
  }
  return modules
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
