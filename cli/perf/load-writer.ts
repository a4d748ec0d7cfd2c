/** One writer of the load generator: what a thread is in Kudu's. */

import type { CliPorts } from '../ports.ts'
import type { RestService } from '../rest/rest-service.ts'
import { ServiceError } from '../rest/service-error.ts'
import type { KeyBudget } from './key-budget.ts'
import { firstCellOf, type LoadPlan, type NumberSpans } from './load-plan.ts'
import type { Progress } from './progress.ts'
import { RowBody, type WrittenRows } from './row-body.ts'
import { type LoadOperation, sendRows, type WriteResult } from './send-rows.ts'

/** What all writers of a phase share. */
export interface LoadPhase {
  readonly plan: LoadPlan
  readonly spans: NumberSpans
  readonly table: string
  readonly operation: LoadOperation
  readonly written: WrittenRows
  readonly keyBudget: KeyBudget
  readonly progress: Progress
  readonly ports: CliPorts
  /** Whether the user asked to stop. */
  readonly isStopped: () => boolean
}

/** Generates rows and sends them, some requests at a time. */
export class LoadWriter {
  /** Rows generated. */
  rowCount = 0
  errorCount = 0
  /** The first errors, as they are shown. */
  readonly shownErrors: string[] = []
  /** Why it gave up, unless it did not. */
  failure: string | null = null
  readonly #phase: LoadPhase
  readonly #index: number
  readonly #service: RestService
  readonly #free: RowBody[]
  readonly #inFlight = new Set<Promise<void>>()

  constructor(phase: LoadPhase, index: number, service: RestService) {
    const { plan, written } = phase
    this.#phase = phase
    this.#index = index
    this.#service = service
    this.#free = Array.from(
      { length: plan.buffersPerThread },
      () => new RowBody(plan.format, written),
    )
  }

  /** Writes rows `[0, rowLimit)` of its span, unless it is stopped or gives up. */
  async run(rowLimit: number): Promise<void> {
    const { plan, spans, isStopped, ports } = this.#phase
    while (this.rowCount < rowLimit && !isStopped() && this.failure === null) {
      const body = this.#free.pop()
      if (body === undefined) {
        await Promise.race(this.#inFlight)
        continue
      }
      const firstRow = this.rowCount
      const rowsMax = Math.min(plan.requestRows, rowLimit - firstRow, REQUEST_ROWS_MAX)
      const firstCell = firstCellOf(spans, this.#index, firstRow)
      body.fill(firstCell, spans.columnCount, plan.requestBytes, rowsMax)
      this.rowCount += body.rowCount
      this.#start(body, firstRow)
      // Other writers have their turn, and what was sent leaves.
      await ports.yieldTurn()
    }
    await Promise.all(this.#inFlight)
  }

  #start(body: RowBody, firstRow: number): void {
    const sending = this.#send(body, firstRow).finally(() => {
      this.#inFlight.delete(sending)
      this.#free.push(body)
    })
    this.#inFlight.add(sending)
  }

  async #send(body: RowBody, firstRow: number): Promise<void> {
    const { table, operation, progress } = this.#phase
    try {
      const result = await sendRows(this.#service, table, operation, body, this.#newKey(body))
      this.#count(result, firstRow)
      progress.add(result.rows)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.errorCount += body.rowCount - error.rowsApplied
      this.failure ??= error.message
    }
  }

  #newKey(body: RowBody): string | null {
    const { operation, keyBudget, ports } = this.#phase
    if (operation === 'UPSERT' || !keyBudget.take(body.rowCount, ports.nowMs())) return null
    return ports.randomHex(16)
  }

  #count({ failed, row_errors }: WriteResult, firstRow: number): void {
    this.errorCount += failed
    const room = this.#phase.plan.shownErrorCount - this.shownErrors.length
    for (const { row_index, code, message } of row_errors.slice(0, Math.max(0, room))) {
      this.shownErrors.push(`row ${firstRow + row_index}: ${code}: ${message}`)
    }
  }
}

/** Rows of a request: a JSON body has no more, and others need none. */
const REQUEST_ROWS_MAX = 100_000
