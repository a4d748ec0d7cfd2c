import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)
const READY_MS_MAX = 45_000
const STOP_MS_MAX = 10_000

/** A real server, started as a user would with `npm run dev`, on a port and state of its own. */
export interface DevServer {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly address: string
  /** Directory of the durable state. Removed by `close`, kept by `stop` and `kill`. */
  readonly state: string
  /** Everything printed so far. */
  readonly output: () => string
  /** Asks the server to end, as Ctrl+C does. Returns its exit code. */
  readonly stop: () => Promise<number>
  /** Ends the whole process group at once, as a crash of the machine would. */
  readonly kill: () => Promise<void>
  /** Kills what still runs and removes the state. */
  readonly close: () => Promise<void>
}

/**
 * Starts `scripts/dev.ts` and waits until it is ready.
 *
 * Pass the `state` of a stopped or killed server to start again on what it left.
 */
export async function startDevServer(
  options: { state?: string; flags?: readonly string[] } = {},
): Promise<DevServer> {
  const state = options.state ?? (await mkdtemp(join(tmpdir(), 'nyala-e2e-')))
  const port = await freePort()
  const listen = ['--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0']
  const flags = [...listen, '--persist-to', state, ...(options.flags ?? [])]
  const child = spawn(process.execPath, ['scripts/dev.ts', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that `kill` reaches wrangler and workerd too.
    detached: true,
  })
  const output = collect(child)
  await untilReady(child, output)
  const kill = () => endGroup(child)
  return {
    address: `http://127.0.0.1:${port}`,
    state,
    output,
    stop: () => stop(child),
    kill,
    close: async () => {
      await kill()
      await rm(state, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return () => text
}

async function untilReady(child: ChildProcess, output: () => string): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX
  while (!output().includes('/api/docs')) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await endGroup(child)
      throw new Error(`the server did not start:\n${output()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

async function stop(child: ChildProcess): Promise<number> {
  if (child.exitCode === null) {
    const exit = once(child, 'exit', { signal: AbortSignal.timeout(STOP_MS_MAX) })
    child.kill('SIGTERM')
    await exit
  }
  return child.exitCode ?? -1
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  const exit = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : null
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nobody of the group is left.
  }
  await exit
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
