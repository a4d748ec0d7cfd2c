/**
 * A client that scans again and again, in a thread of its own: what it does with the bytes must not
 * be what another client waits for.
 */

import { request } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Scans a URL until it is stopped. */
export class ScanLoop {
  readonly #worker: Worker

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  /** Starts to scan. Resolves at the first bytes. */
  static async start(url: string): Promise<ScanLoop> {
    const worker = new Worker(import.meta.filename, { workerData: url })
    await messageOf(worker)
    return new ScanLoop(worker)
  }

  /** Stops it in the middle of a scan. Returns: bytes read a second so far. */
  async stop(): Promise<number> {
    const rate = messageOf(this.#worker)
    this.#worker.postMessage('stop')
    const bytes = await rate
    await this.#worker.terminate()
    return bytes
  }
}

/** What a thread says next. */
function messageOf(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

function scanOnce(url: string, onBytes: (count: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, (response) => {
      response.on('data', (chunk: Buffer) => onBytes(chunk.length))
      response.on('end', resolve)
      response.on('error', reject)
    })
      .on('error', reject)
      .end()
  })
}

async function scanOn(url: string): Promise<void> {
  let begun = 0
  let bytes = 0
  parentPort?.once('message', () => {
    parentPort?.postMessage((bytes * 1000) / (performance.now() - begun))
  })
  for (;;) {
    await scanOnce(url, (count) => {
      if (bytes === 0) {
        begun = performance.now()
        parentPort?.postMessage(0)
      }
      bytes += count
    })
  }
}

if (!isMainThread && typeof workerData === 'string') await scanOn(workerData)
