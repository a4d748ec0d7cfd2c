/**
 * Figures of a benchmark: a line each for people, and, of full sizes, a line of JSON each in
 * `bench/results/`, with the machine, the Node and the commit that they were measured with.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { atLeast, atMost } from './bar.ts'
import { median, spread, type Turns } from './in-turns.ts'
import type { Size } from './size.ts'

const RESULTS = join(import.meta.dirname, '..', 'results')
const MIB = 1024 * 1024

/** What was measured; what is left out was not. */
export interface Figure {
  /** What it is, in a few words. */
  readonly name: string
  /** Rows that one round works on. */
  readonly rows?: number
  /** Wall time of each round. */
  readonly milliseconds?: readonly number[]
  /** User and system time of the processes involved, in one round. */
  readonly cpuMs?: number
  /** Most memory that the processes took at once. */
  readonly peakBytes?: number
  /** Stored rows that the platform bills, read and written. */
  readonly billedRows?: number
  /** Of what came out: equal when the same came out. */
  readonly hash?: string
  readonly rival?: RivalFigure
  /** Any other figure, and its unit. */
  readonly value?: { readonly amount: number; readonly unit: string }
  /** What is held against the median ratio, or, without a rival, against the value. */
  readonly bar?: { readonly atLeast: number } | { readonly atMost: number }
}

/** What somebody else takes for the same, in turns in the same run. */
export interface RivalFigure {
  readonly name: string
  readonly milliseconds?: readonly number[]
  /** How many times as fast ours is, round by round. */
  readonly ratios: readonly number[]
  /** The same by CPU. */
  readonly cpuRatios?: readonly number[]
}

/** The rival's side of what was measured in turns. */
export function rivalOf(name: string, turns: Turns): RivalFigure {
  const { rival, ratios, cpuRatios } = turns
  return { name, milliseconds: rival, ratios, cpuRatios }
}

/** A short hash of what came out. */
export function hashOf(result: string | Uint8Array): string {
  return createHash('sha256').update(result).digest('hex').slice(0, 12)
}

/** The figures of one run of a benchmark. */
export class Report {
  readonly #benchmark: string
  readonly #size: Size
  readonly #lines: string[] = []

  constructor(benchmark: string, size: Size) {
    this.#benchmark = benchmark
    this.#size = size
  }

  /** Prints a figure, and keeps it. */
  add(measured: Figure): void {
    // What is small is not what a bar is about.
    const figure = this.#size === 'full' ? measured : withoutBar(measured)
    process.stdout.write(`  ${textOf(figure)}\n`)
    const about = { benchmark: this.#benchmark, size: this.#size, ...jsonOf(figure) }
    this.#lines.push(JSON.stringify({ ...about, ...surroundings() }))
  }

  /**
   * Writes the figures to the benchmark's file, in place of those of the run before. `peakBytes`:
   * what the service took at most, if there was one.
   */
  close(peakBytes = Number.NaN): void {
    if (peakBytes > 0) this.add({ name: 'the service, in all', peakBytes })
    if (this.#size !== 'full') return
    mkdirSync(RESULTS, { recursive: true })
    writeFileSync(join(RESULTS, `${this.#benchmark}.jsonl`), `${this.#lines.join('\n')}\n`)
  }
}

function withoutBar({ bar: _, ...figure }: Figure): Figure {
  return figure
}

function textOf(figure: Figure): string {
  const { name, rows, milliseconds, cpuMs, peakBytes, billedRows, hash, rival, value } = figure
  const parts: string[] = []
  if (value !== undefined) parts.push(`${shortNumber(value.amount)} ${value.unit}`)
  if (rows !== undefined) parts.push(`${rows} rows`)
  if (milliseconds !== undefined) parts.push(`${spread(milliseconds, 1)} ms`)
  if (rows !== undefined && milliseconds !== undefined) {
    const ms = median(milliseconds)
    parts.push(`${shortNumber((ms * 1e6) / rows)} ns a row`)
    parts.push(`${shortNumber((rows / ms) * 1000)} rows/s`)
  }
  if (cpuMs !== undefined) parts.push(`CPU ${shortNumber(cpuMs / 1000)} s`)
  if (peakBytes !== undefined) parts.push(`peak ${(peakBytes / MIB).toFixed(0)} MiB`)
  if (billedRows !== undefined) parts.push(`${billedRows} rows billed`)
  if (hash !== undefined) parts.push(`hash ${hash}`)
  if (rival !== undefined) {
    const byCpu = rival.cpuRatios === undefined ? '' : `, by CPU ${spread(rival.cpuRatios)}`
    parts.push(`${spread(rival.ratios)} × ${rival.name}${byCpu}`)
  }
  const bar = barText(figure)
  return `${name}: ${parts.join(', ')}${bar === '' ? '' : ` ${bar}`}`
}

/** What a bar is held against. */
function heldFigure({ rival, value }: Figure): number {
  return rival === undefined ? (value?.amount ?? Number.NaN) : median(rival.ratios)
}

function barText(figure: Figure): string {
  const { bar } = figure
  if (bar === undefined) return ''
  const held = heldFigure(figure)
  return 'atLeast' in bar ? atLeast(held, bar.atLeast) : atMost(held, bar.atMost)
}

function jsonOf(figure: Figure): object {
  const { rows, milliseconds, cpuMs, rival, value, bar } = figure
  const ms = milliseconds === undefined ? undefined : median(milliseconds)
  const isTimed = rows !== undefined && ms !== undefined
  return {
    name: figure.name,
    rows,
    milliseconds,
    ns_per_row: isTimed ? (ms * 1e6) / rows : undefined,
    rows_per_second: isTimed ? (rows / ms) * 1000 : undefined,
    cpu_seconds: cpuMs === undefined ? undefined : cpuMs / 1000,
    peak_bytes: figure.peakBytes,
    billed_rows: figure.billedRows,
    hash: figure.hash,
    value: value?.amount,
    unit: value?.unit,
    rival: rival?.name,
    rival_milliseconds: rival?.milliseconds,
    ratio: rival === undefined ? undefined : median(rival.ratios),
    ratios: rival?.ratios,
    cpu_ratios: rival?.cpuRatios,
    bar,
    holds: bar === undefined ? undefined : !barText(figure).includes('MISSED'),
  }
}

/** Where and with what it was measured. */
function surroundings(): object {
  const cores = cpus()
  return {
    machine: { cpu: cores[0]?.model ?? 'unknown', cores: cores.length, memory: totalmem() },
    node: process.version,
    commit: commit(),
  }
}

function commit(): string {
  try {
    const options = { encoding: 'utf8', cwd: import.meta.dirname } as const
    const hash = execFileSync('git', ['rev-parse', '--short', 'HEAD'], options).trim()
    const changes = execFileSync('git', ['status', '--porcelain', '--', '../src'], options)
    return changes === '' ? hash : `${hash}, changed`
  } catch {
    return 'unknown'
  }
}

/** Four digits are enough. */
function shortNumber(number: number): string {
  if (Math.abs(number) >= 1000) return Math.round(number).toLocaleString('en')
  return Number(number.toPrecision(4)).toString()
}
