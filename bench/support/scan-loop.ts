/**
 * A client that scans again and again, in a thread of its own: what it does with the bytes must not
 * be what another client waits for.
 */

import { request } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Scans a URL until it is stopped. */
export class ScanLoop {
  readonly #worker: Worker

  constructor(url: string) {
    this.#worker = new Worker(import.meta.filename, { workerData: url })
  }

  /** Stops it in the middle of a scan. Returns: bytes read a second so far. */
  async stop(): Promise<number> {
    const rate = new Promise<number>((resolve, reject) => {
      this.#worker.once('message', resolve)
      this.#worker.once('error', reject)
    })
    this.#worker.postMessage('stop')
    const bytes = await rate
    await this.#worker.terminate()
    return bytes
  }
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
  const begun = performance.now()
  let bytes = 0
  parentPort?.once('message', () => {
    parentPort?.postMessage((bytes * 1000) / (performance.now() - begun))
  })
  for (;;) {
    await scanOnce(url, (count) => {
      bytes += count
    })
  }
}

if (!isMainThread && typeof workerData === 'string') await scanOn(workerData)
