/**
 * The real Worker, built once and served by a process of its own, which can be killed at any moment
 * and started again on what it left. Quicker than a developer's server, which builds each time.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const ROOT = dirname(dirname(import.meta.dirname))
const START_COUNT_MAX = 5

/** A running Worker. */
export interface WorkerProcess {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly address: string
  /** What it printed. */
  readonly output: () => string
  /** Ends the whole process group at once, as a crash of the machine would. */
  readonly kill: () => Promise<void>
}

/** See the file's header. */
export class WorkerService {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Builds the Worker as a deployment would. */
  static async build(): Promise<WorkerService> {
    const service = new WorkerService(await mkdtemp(join(tmpdir(), 'nyala-worker-')))
    const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
    const flags = ['deploy', '--dry-run', '--outdir', service.#bundle]
    const child = spawn(process.execPath, [wrangler, ...flags], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = collect(child)
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`the Worker could not be built:\n${output()}`)
    return service
  }

  /** Directory of the durable state. */
  get state(): string {
    return join(this.#directory, 'state')
  }

  get #bundle(): string {
    return join(this.#directory, 'bundle')
  }

  /** Starts it, on the state that is there. */
  async start(): Promise<WorkerProcess> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#start()
      } catch (error) {
        // Somebody else has taken the port that was free.
        const isTaken = String(error).includes('ERR_ADDRESS_IN_USE')
        if (!isTaken || attempt === START_COUNT_MAX) throw error
      }
    }
  }

  async #start(): Promise<WorkerProcess> {
    const port = await freePort()
    const script = join(import.meta.dirname, 'serve-worker.ts')
    const child = spawn(process.execPath, [script, this.#bundle, this.state, String(port)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that `kill` reaches workerd too.
      detached: true,
    })
    const output = collect(child)
    const address = `http://127.0.0.1:${port}`
    const isReady = await untilPrinted(child, address)
    if (!isReady) throw new Error(`the Worker did not start:\n${output()}`)
    return { address, output, kill: () => endGroup(child) }
  }

  /** Removes the bundle and the state. */
  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
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

/** Whether a process printed a text before it ended. */
function untilPrinted(child: ChildProcess, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    let printed = ''
    child.stdout?.on('data', (chunk: string) => {
      printed += chunk
      if (printed.includes(text)) resolve(true)
    })
    child.once('close', () => resolve(false))
  })
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
