/**
 * How far the writers are: a line that is written over on a terminal, else a line every now and
 * then.
 */

import type { CliPorts } from '../ports.ts'

const TERMINAL_MS = 200
const PLAIN_MS = 5_000

/** See the file's header. */
export class Progress {
  readonly #label: string
  readonly #total: number
  readonly #ports: CliPorts
  readonly #startedAt: number
  readonly #stop: () => void
  #done = 0
  #isLineOpen = false

  /** `total` is Infinity when nobody knows. */
  constructor(label: string, total: number, ports: CliPorts) {
    this.#label = label
    this.#total = total
    this.#ports = ports
    this.#startedAt = ports.nowMs()
    this.#stop = ports.every(ports.isErrTerminal ? TERMINAL_MS : PLAIN_MS, () => this.#show())
  }

  /** Counts rows that were answered. */
  add(rows: number): void {
    this.#done += rows
  }

  /** Ends it. */
  close(): void {
    this.#stop()
    if (this.#isLineOpen) this.#ports.err('\r\u001b[2K')
  }

  #show(): void {
    const { err, isErrTerminal, nowMs } = this.#ports
    const seconds = (nowMs() - this.#startedAt) / 1000
    const rate = shown(Math.round(this.#done / Math.max(seconds, 0.001)))
    const total = Number.isFinite(this.#total) ? ` of ${shown(this.#total)}` : ''
    const text = `${this.#label} ${shown(this.#done)}${total} rows, ${rate} rows/s`
    err(isErrTerminal ? `\r\u001b[2K${text}` : `${text}\n`)
    this.#isLineOpen = isErrTerminal
  }
}

function shown(count: number): string {
  return count.toLocaleString('en')
}
