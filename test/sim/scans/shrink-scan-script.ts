/**
 * Cuts a script over a whole table that fails down: fewer events, fewer rows in its writes, fewer
 * columns, and a simpler last question, as long as it still fails in the same way.
 */

import { runScanScript } from './run-scan-script.ts'
import type {
  AggregateQuery,
  ModelQuery,
  ModelSelection,
  ScanEvent,
  ScanScript,
  WriteEvent,
} from './scan-script.ts'

const TRIALS_MAX = 500

/** The smallest script found that fails as well. Requires: the script fails. */
export function shrinkScanScript(script: ScanScript): Promise<ScanScript> {
  return new Shrinker().run(script)
}

/** What is the same for two runs that fail in the same way: the law, without its figures. */
export function lawOf(error: unknown): string {
  return String(error).split('\n')[0].replace(/\d+/g, 'N').slice(0, 60)
}

class Shrinker {
  #trials = 0
  #law = ''

  async run(script: ScanScript): Promise<ScanScript> {
    const failure = await runScanScript(script)
    if (failure === null) return script
    this.#law = lawOf(failure.error)
    let small: ScanScript = { ...script, events: script.events.slice(0, failure.eventIndex + 1) }
    small = await this.#withFewerEvents(small)
    small = await this.#withSimplerRead(small)
    small = await this.#withFewerRows(small)
    small = await this.#withFewerColumns(small)
    return this.#withFewerEvents(small)
  }

  async #fails(script: ScanScript): Promise<boolean> {
    if (this.#trials++ >= TRIALS_MAX) return false
    const failure = await runScanScript(script)
    return failure !== null && lawOf(failure.error) === this.#law
  }

  #withFewerEvents(script: ScanScript): Promise<ScanScript> {
    return this.#withFewer(script, script.events, (events) => ({ ...script, events }))
  }

  async #withFewerRows(script: ScanScript): Promise<ScanScript> {
    let small = script
    for (const [index, event] of script.events.entries()) {
      if (event.kind !== 'write' || event.operations.length < 2) continue
      small = await this.#withFewer(small, event.operations, (operations) => {
        return withEvent(small, index, { ...event, operations })
      })
    }
    return small
  }

  /** Leaves out longer and shorter runs of a list, as long as that helps. */
  async #withFewer<T>(
    script: ScanScript,
    list: readonly T[],
    make: (list: readonly T[]) => ScanScript,
  ): Promise<ScanScript> {
    let small = script
    let kept = list
    for (let length = kept.length >> 1; length >= 1; length >>= 1) {
      for (let start = 0; start < kept.length; ) {
        const fewer = [...kept.slice(0, start), ...kept.slice(start + length)]
        if (fewer.length > 0 && (await this.#fails(make(fewer)))) {
          kept = fewer
          small = make(kept)
        } else start += length
      }
    }
    return small
  }

  async #withSimplerRead(script: ScanScript): Promise<ScanScript> {
    let small = script
    const index = script.events.length - 1
    for (let isSimpler = true; isSimpler; ) {
      isSimpler = false
      const event = small.events[index]
      if (event?.kind !== 'read') return small
      for (const query of simplerQueries(event.query)) {
        const candidate = withEvent(small, index, { kind: 'read', query })
        if (!(await this.#fails(candidate))) continue
        small = candidate
        isSimpler = true
        break
      }
    }
    return small
  }

  async #withFewerColumns(script: ScanScript): Promise<ScanScript> {
    let small = script
    for (const { name, isKey } of script.table.columns) {
      const candidate = isKey ? null : withoutColumn(small, name)
      if (candidate !== null && (await this.#fails(candidate))) small = candidate
    }
    return small
  }
}

function withEvent(script: ScanScript, index: number, event: ScanEvent): ScanScript {
  return { ...script, events: script.events.with(index, event) }
}

/** Questions with one thing less. */
function simplerQueries(query: ModelQuery): ModelQuery[] {
  const simpler: ModelQuery[] = simplerSelections(query).map((selection) => {
    return { ...query, ...selection }
  })
  if (query.limit !== null) simpler.push({ ...query, limit: null })
  const isDiff = query.kind === 'scan' && query.diff !== null
  if (query.at.kind !== 'now' && !isDiff)
    simpler.push({ ...query, at: { kind: 'now', mode: null } })
  if (query.kind === 'aggregate') return [...simpler, ...simplerAggregations(query)]
  const { columns, between } = query
  for (const index of columns?.keys() ?? []) {
    simpler.push({ ...query, columns: columns?.toSpliced(index, 1) ?? null })
  }
  if (query.tokens !== null) simpler.push({ ...query, tokens: null })
  if (between.length > 0) simpler.push({ ...query, between: between.slice(1) })
  return simpler
}

function simplerSelections({ predicates, lower, upper }: ModelSelection): ModelSelection[] {
  const simpler: ModelSelection[] = []
  for (const [index, predicate] of predicates.entries()) {
    simpler.push({ predicates: predicates.toSpliced(index, 1), lower, upper })
    if (predicate.op !== 'IN') continue
    for (const at of predicate.values.keys()) {
      const fewer = { ...predicate, values: predicate.values.toSpliced(at, 1) }
      simpler.push({ predicates: predicates.with(index, fewer), lower, upper })
    }
  }
  if (lower !== null) simpler.push({ predicates, lower: null, upper })
  if (upper !== null) simpler.push({ predicates, lower, upper: null })
  return simpler
}

function simplerAggregations(query: AggregateQuery): AggregateQuery[] {
  const { groupBy, aggregates, orderBy } = query
  const simpler: AggregateQuery[] = []
  for (const index of orderBy.keys()) {
    simpler.push({ ...query, orderBy: orderBy.toSpliced(index, 1) })
  }
  for (const index of groupBy.keys()) {
    if (aggregates.length + groupBy.length > 1) {
      simpler.push({ ...query, groupBy: groupBy.toSpliced(index, 1), orderBy: [] })
    }
  }
  for (const [index, aggregate] of aggregates.entries()) {
    const { input } = aggregate
    if (aggregates.length + groupBy.length > 1) {
      simpler.push({ ...query, aggregates: aggregates.toSpliced(index, 1), orderBy: [] })
    }
    if (input?.kind !== 'binary') continue
    for (const side of [input.left, input.right]) {
      simpler.push({ ...query, aggregates: aggregates.with(index, { ...aggregate, input: side }) })
    }
  }
  return simpler
}

/** The script without a column; null when something asks for it. */
function withoutColumn(script: ScanScript, name: string): ScanScript | null {
  const events: ScanEvent[] = []
  for (const event of script.events) {
    if (event.kind === 'write') events.push(writeWithout(event, name))
    else if (event.kind === 'read') {
      if (isAsked(event.query, name)) return null
      events.push(event)
    } else if (event.kind === 'together') return null
    else events.push(event)
  }
  const columns = script.table.columns.filter((column) => column.name !== name)
  return { ...script, table: { ...script.table, columns }, events }
}

/** Whether a question may look at a column. Its name in quotes says so. */
function isAsked(query: ModelQuery, name: string): boolean {
  if (query.kind === 'scan' && query.between.length > 0) return true
  const text = JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? 0 : value))
  return text.includes(JSON.stringify(name))
}

function writeWithout(event: WriteEvent, name: string): WriteEvent {
  const operations = event.operations.map(([operation, cells]) => {
    const kept = Object.entries(cells).filter(([column]) => column !== name)
    return [operation, Object.fromEntries(kept)] as const
  })
  return { ...event, operations }
}
