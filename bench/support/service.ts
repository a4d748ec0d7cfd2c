/**
 * The whole service in a workerd of its own, with a socket straight into it: what `wrangler dev`
 * puts between a client and the Worker costs more than the Worker does.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Miniflare } from 'miniflare'

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
  /** Bytes that live JavaScript and its buffers take after a forced collection. */
  readonly heapBytes: () => Promise<number>
  /**
   * Milliseconds of CPU that the service, and a rival beside it, took so far; NaN where the system
   * does not tell.
   */
  readonly cpuMs: () => number
  readonly close: () => Promise<void>
}

/** What runs beside the service, in the same process. */
export interface BenchOptions {
  /** Whether a Worker over D1 does. */
  readonly hasRival?: boolean
}

/** Starts the service on an empty state, with authentication off. */
export async function startService({ hasRival = false }: BenchOptions = {}): Promise<BenchService> {
  const parent = existsSync(MEMORY_PATH) ? MEMORY_PATH : tmpdir()
  const directory = await mkdtemp(join(parent, 'nyala-bench-'))
  const [port, inspectorPort] = [await freePort(), await freePort()]
  const rivalPort = await freePort()
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
      ...(hasRival ? [await rivalWorker(rivalPort)] : []),
    ],
  } as unknown as ConstructorParameters<typeof Miniflare>[0])
  await miniflare.ready
  return {
    address: `http://127.0.0.1:${port}`,
    rivalAddress: `http://127.0.0.1:${rivalPort}`,
    heapBytes: () => heapBytes(inspectorPort, `http://127.0.0.1:${port}/healthz`),
    cpuMs: workerdCpuMs,
    close: async () => {
      await miniflare.dispose()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Ticks of the clock that Linux counts CPU in, a second. */
const TICKS = 100

function workerdCpuMs(): number {
  if (!existsSync('/proc/self/stat')) return Number.NaN
  let ticks = Number.NaN
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue
    const fields = statOf(name)
    if (fields?.[0] !== 'workerd' || Number(fields[2]) !== process.pid) continue
    ticks = Number(fields[12]) + Number(fields[13])
  }
  return (ticks / TICKS) * 1000
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

async function rivalWorker(port: number): Promise<object> {
  const source = await readFile(join(import.meta.dirname, 'rival-worker.ts'), 'utf8')
  const contents = stripTypeScriptTypes(source)
  return {
    config: {
      name: 'rival',
      compatibilityDate: COMPATIBILITY_DATE,
      manifest: { mainModule: 'index.js', modules: { 'index.js': { type: 'esm', contents } } },
      env: { DB: { type: 'd1', id: 'rival' } },
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port }] },
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

const PING_EVERY_MS = 50

async function heapBytes(inspectorPort: number, pingUrl: string): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${inspectorPort}/core:user:bench`)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  try {
    await heard(pingUrl, inspect(socket, 1, 'HeapProfiler.enable'))
    await heard(pingUrl, inspect(socket, 2, 'HeapProfiler.collectGarbage'))
    const usage = await heard(pingUrl, inspect(socket, 3, 'Runtime.getHeapUsage'))
    return Number(usage.usedSize) + Number(usage.backingStorageSize ?? 0)
  } finally {
    socket.close()
  }
}

/** Waits for an answer. An isolate that has nothing to do does not hear its inspector. */
async function heard<T>(pingUrl: string, answer: Promise<T>): Promise<T> {
  let isHeard = false
  const hearing = answer.then(() => {
    isHeard = true
  })
  while (!isHeard) {
    await (await fetch(pingUrl)).text()
    await Promise.race([hearing, new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS))])
  }
  return answer
}

function inspect(socket: WebSocket, id: number, method: string): Promise<Record<string, unknown>> {
  return new Promise((resolve) => {
    const hear = (event: MessageEvent): void => {
      const message = JSON.parse(String(event.data)) as { id?: number; result?: object }
      if (message.id !== id) return
      socket.removeEventListener('message', hear)
      resolve((message.result ?? {}) as Record<string, unknown>)
    }
    socket.addEventListener('message', hear)
    socket.send(JSON.stringify({ id, method }))
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
