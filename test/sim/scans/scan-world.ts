/**
 * A whole service and the truth about its one table: runs the events of a script, sends what they
 * ask as a client would, and holds every answer against the model.
 */

import { PAGE_CACHE_BYTES_MAX } from '../../../src/common/limits.ts'
import { LocalApp } from '../../support/local-app.ts'
import { tabletLayout } from '../sim-table.ts'
import { deleteByPredicates } from './delete-by-predicates.ts'
import { createTableBody, TABLE_NAME } from './model-table.ts'
import type { ModelColumn } from './model-value.ts'
import { type ModelRequest, writeRequest } from './scan-requests.ts'
import type { ScanEvent, ScanScript, WriteEvent } from './scan-script.ts'
import type { ModelOutcome } from './version-model.ts'
import { VersionModel } from './version-model.ts'
import { WatchedService } from './watched-service.ts'

/** An answer, read to its end. */
export interface WorldAnswer {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
  readonly text: string
}

/** Looks at what was found; called once all that happened at the same time has ended. */
export type Check = () => void

/** Performs reads: the questions that a world can be asked. */
export type Reader = (
  world: ScanWorld,
  query: Extract<ScanEvent, { kind: 'read' }>['query'],
) => Promise<Check>

const BASE = `/api/v1/tables/${TABLE_NAME}`
const COUNTERS = ['inserted', 'upserted', 'updated', 'deleted', 'ignored'] as const

/** An answer tells of so many rows why they failed. */
const ROW_ERRORS_SHOWN = 1000

/** With a small cache whole scans and aggregations borrow pages, as those of large tables do. */
const CACHE_BYTES_MAX = [PAGE_CACHE_BYTES_MAX, 2_000, 20_000]

/** See the file's header. */
export class ScanWorld {
  readonly script: ScanScript
  readonly model: VersionModel
  readonly columns: readonly ModelColumn[]
  readonly service: WatchedService
  /** Tablets in partition-key order. */
  tabletIds: readonly string[] = []
  /** The tablet that each key was written to. */
  readonly tabletOf = new Map<string, string>()
  /** How often each thing happened. */
  readonly counts: Map<string, number>
  /** The greatest snapshot that all tablets were read at: nothing is written at or below it. */
  servedAll = 0
  readonly #app: LocalApp
  readonly #read: Reader

  constructor(script: ScanScript, read: Reader, counts: Map<string, number>) {
    this.script = script
    this.counts = counts
    this.#read = read
    this.model = new VersionModel(script.table)
    this.columns = script.table.columns
    const { layout } = script.table
    this.service = new WatchedService({
      seed: script.seed,
      evictChance: script.evictChance,
      skewMicrosMax: script.skewMicros ?? 0,
      cacheBytesMax: CACHE_BYTES_MAX[script.seed % CACHE_BYTES_MAX.length],
      ...(layout === null ? {} : { layout: tabletLayout(layout) }),
    })
    this.service.keyColumns = this.model.keyColumns
    this.#app = new LocalApp({}, this.service)
  }

  /** Makes the table. */
  async start(): Promise<void> {
    const body = createTableBody(this.script.table)
    const path = '/api/v1/tables'
    await this.must({ method: 'POST', path, contentType: 'application/json', body })
    const { text } = await this.must({ method: 'GET', path: `${BASE}/tablets` })
    const { tablets } = JSON.parse(text) as { tablets: { tablet_id: string }[] }
    this.tabletIds = tablets.map(({ tablet_id: id }) => id)
  }

  /** Runs an event and checks what came of it. */
  async run(event: ScanEvent): Promise<void> {
    const check = await this.#perform(event)
    check()
  }

  count(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by)
  }

  /** Sends a request. */
  async send({ method, path, contentType, body, headers }: ModelRequest): Promise<WorldAnswer> {
    const type = contentType === undefined ? {} : { 'content-type': contentType }
    const response = await this.#app.app.request(`http://localhost${path}`, {
      method,
      headers: { ...type, ...headers },
      ...(body === undefined ? {} : { body: body as BodyInit }),
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const text = new TextDecoder().decode(bytes)
    return { status: response.status, headers: response.headers, bytes, text }
  }

  /** Sends a request. Throws unless it succeeds. */
  async must(request: ModelRequest): Promise<WorldAnswer> {
    const answer = await this.send(request)
    if (answer.status < 300) return answer
    const sent = `${request.method} ${request.path} ${String(request.body ?? '').slice(0, 2000)}`
    throw new Error(`${sent}\nis answered ${answer.status} ${answer.text}`)
  }

  /** Notes when something was changed. Throws when that time had been read before. */
  noteChange(at: number): void {
    if (at <= this.servedAll) {
      throw new Error(`a change at ${at}, though ${this.servedAll} had been read`)
    }
    this.model.noteTime(at)
  }

  async #perform(event: ScanEvent): Promise<Check> {
    switch (event.kind) {
      case 'write':
        return this.#write(event)
      case 'delete':
        return deleteByPredicates(this, event)
      case 'read':
        return this.#read(this, event.query)
      case 'together': {
        this.count('together')
        const checks = await Promise.all(event.events.map((it) => this.#perform(it)))
        // What was written is known before what was read is judged.
        const isWrite = event.events.map(({ kind }) => kind === 'write' || kind === 'delete')
        return () => {
          for (const [i, check] of checks.entries()) if (isWrite[i]) check()
          for (const [i, check] of checks.entries()) if (!isWrite[i]) check()
        }
      }
      case 'maintain': {
        const tabletId = event.dice === null ? null : this.#chosen(event.dice)
        const path = tabletId === null ? BASE : `/api/v1/tablets/${tabletId}`
        const body = JSON.stringify({ op: event.op })
        const contentType = 'application/json'
        const request = { method: 'POST', path: `${path}/maintenance`, contentType, body }
        const { status, text } = await this.send(request)
        const isUnknown = status === 404 && tabletId !== null
        if (status >= 300 && !isUnknown) throw new Error(`${event.op}: ${status} ${text}`)
        this.count(/"runs":[1-9]/.test(text) ? `${event.op} done` : `${event.op} without work`)
        return () => undefined
      }
      case 'evict':
        this.count('evict')
        this.service.tablet(this.#chosen(event.dice)).evict()
        return () => undefined
      case 'reset':
        this.count('reset')
        this.service.tablet(this.#chosen(event.dice)).resets = [event.moment]
        return () => undefined
      case 'advance':
        this.count('advance')
        await this.service.runAlarms(event.micros)
        return () => undefined
    }
  }

  #chosen(dice: number): string {
    return this.tabletIds[Math.floor(dice * this.tabletIds.length)]
  }

  async #write(event: WriteEvent): Promise<Check> {
    this.service.shares = []
    const { text } = await this.must(writeRequest(this.columns, event))
    const { shares } = this.service
    return () => this.#checkWrite(event, JSON.parse(text) as Record<string, unknown>, shares)
  }

  #checkWrite(
    event: WriteEvent,
    answer: Readonly<Record<string, unknown>>,
    shares: WatchedService['shares'],
  ): void {
    // Of each key the times of its rows, in their order: a large request is cut into shares.
    const times = new Map<string, (number | null)[]>()
    for (const { tabletId, at, keys } of shares) {
      if (at !== null) this.noteChange(at)
      for (const key of keys) {
        const name = this.model.keyName(key)
        const known = times.get(name)
        if (known === undefined) times.set(name, [at])
        else known.push(at)
        this.tabletOf.set(name, tabletId)
      }
    }
    const outcomes = event.operations.map((operation) => {
      const name = this.model.keyName(this.model.keyOf(operation[1]))
      const at = times.get(name)?.shift() ?? null
      return this.model.apply(operation, at)
    })
    this.#compareOutcomes(outcomes, answer)
    this.count('rows written', outcomes.length)
  }

  #compareOutcomes(
    outcomes: readonly ModelOutcome[],
    answer: Readonly<Record<string, unknown>>,
  ): void {
    const expected = COUNTERS.map((name) => outcomes.filter((outcome) => outcome === name).length)
    const found = COUNTERS.map((name) => answer[name])
    const errors = outcomes.flatMap((outcome, i) => (/[A-Z]/.test(outcome) ? [[i, outcome]] : []))
    const rowErrors = answer.row_errors as { row_index: number; code: string }[]
    const foundErrors = rowErrors.map(({ row_index: index, code }) => [index, code])
    const shown = [expected, errors.length, errors.slice(0, ROW_ERRORS_SHOWN)]
    if (JSON.stringify([found, answer.failed, foundErrors]) === JSON.stringify(shown)) return
    throw new Error(`write: ${JSON.stringify(answer).slice(0, 1000)}, not ${JSON.stringify(shown)}`)
  }
}
