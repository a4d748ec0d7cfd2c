/** `nyala perf loadgen`: Kudu's load generator, over REST. */

import { CliError } from '../cli-error.ts'
import type { FlagValues } from '../flags.ts'
import type { Action, ActionContext } from '../mode.ts'
import type { CliPorts } from '../ports.ts'
import { orCliError, RestService, tablePath } from '../rest/rest-service.ts'
import { schemaOf, type TableObject } from '../rest/table-schema.ts'
import { autoTableColumnCount, autoTableRequest, autoTableShape } from './auto-table.ts'
import { countRows } from './count-rows.ts'
import { KeyBudget } from './key-budget.ts'
import { type LoadPlan, type NumberSpans, numberSpans, planLoad } from './load-plan.ts'
import type { LoadPhase } from './load-writer.ts'
import { LOADGEN_FLAGS, LOADGEN_REFUSED_FLAGS } from './loadgen-flags.ts'
import { Progress } from './progress.ts'
import type { LoadOperation } from './send-rows.ts'
import { runWriters } from './write-phase.ts'

/** The action. */
export const LOADGEN: Action = {
  name: 'loadgen',
  description: 'Run load generation with optional scan afterwards',
  details:
    'Writes generated rows to an existing table, or to one made for the run, as fast as ' +
    'possible. Each cell is made of a number: those of a row are counted on from column to ' +
    'column, each writer has its own span, the first begins at --seq_start. A table made for the ' +
    'run is dropped when all went well. To write to the same table again, add num_threads × ' +
    'num_rows_per_thread × its columns to --seq_start.',
  positionals: [
    { name: 'service_address', description: 'Address of the service, as http://127.0.0.1:8787.' },
  ],
  flags: LOADGEN_FLAGS,
  refusedFlags: LOADGEN_REFUSED_FLAGS,
  run: runLoadgen,
}

async function runLoadgen({ positionals, flags, ports }: ActionContext): Promise<void> {
  const plan = planLoad(flags)
  const options = {
    address: positionals.get('service_address') ?? '',
    token: flags.text('token') || (ports.environment.NYALA_TOKEN ?? ''),
    timeoutMs: flags.number('timeout_ms'),
  }
  const services: RestService[] = []
  try {
    const clientCount = plan.hasClientPerThread ? plan.threadCount : 1
    for (let i = 0; i < clientCount; i++) services.push(new RestService(options, ports))
    await new LoadRun(plan, flags, services, ports).run()
  } finally {
    for (const service of services) service.close()
  }
}

interface LoadTable {
  readonly name: string
  readonly isAuto: boolean
  readonly spans: NumberSpans
  readonly object: TableObject
}

class LoadRun {
  readonly #plan: LoadPlan
  readonly #flags: FlagValues
  readonly #services: readonly RestService[]
  readonly #ports: CliPorts
  readonly #keyBudget = new KeyBudget()
  #isInterrupted = false

  constructor(
    plan: LoadPlan,
    flags: FlagValues,
    services: readonly RestService[],
    ports: CliPorts,
  ) {
    this.#plan = plan
    this.#flags = flags
    this.#services = services
    this.#ports = ports
  }

  /** Does it all. Who interrupts it ends the writing; what comes afterwards is done. */
  async run(): Promise<void> {
    const stopListening = this.#ports.onInterrupt(() => {
      this.#isInterrupted = true
    })
    try {
      await this.#run()
    } finally {
      stopListening()
    }
  }

  async #run(): Promise<void> {
    const table = await this.#openTable()
    const { name, isAuto, spans } = table
    this.#ports.out(`Using ${isAuto ? 'auto-created ' : ''}table '${name}'\n`)
    const isScanAsked = this.#flags.bool('run_scan')
    // Rows that were there before are expected to be there afterwards.
    const before = isScanAsked && !isAuto ? await countRows(this.#services[0], name) : 0

    const planned = Array.from({ length: this.#plan.threadCount }, () => spans.rowsPerThread)
    const written = await this.#write(table, this.#plan.operation, planned)
    if (isScanAsked) await this.#check(name, before, sum(written))
    if (this.#flags.bool('run_cleanup')) await this.#write(table, 'DELETE', written)
    if (isAuto && !this.#flags.bool('keep_auto_table')) await this.#drop(name)
  }

  async #openTable(): Promise<LoadTable> {
    const service = this.#services[0]
    const name = this.#flags.text('table_name')
    if (name !== '') {
      const path = tablePath(name)
      const object = await orCliError(`table '${name}' could not be opened`, () =>
        service.repeat(() => service.ask<TableObject>({ method: 'GET', path })),
      )
      const spans = numberSpans(this.#plan, object.schema.columns.length)
      return { name, isAuto: false, spans, object }
    }
    const autoName = `loadgen_auto_${this.#ports.randomHex(16)}`
    const shape = autoTableShape(this.#flags)
    const spans = numberSpans(this.#plan, autoTableColumnCount(shape))
    const { threadCount, values } = this.#plan
    const keys = { isRandom: values.isKeyRandom, threadCount }
    const body = autoTableRequest(autoName, shape, spans, keys)
    const object = await orCliError(`table '${autoName}' could not be created`, () =>
      service.ask<TableObject>({ method: 'POST', path: '/tables', body }),
    )
    return { name: autoName, isAuto: true, spans, object }
  }

  /** Returns: the rows that each writer wrote. */
  #write(
    table: LoadTable,
    operation: LoadOperation,
    rowLimits: readonly number[],
  ): Promise<readonly number[]> {
    const isDeletion = operation === 'DELETE'
    const isEndless = this.#plan.rowsPerThread === Number.POSITIVE_INFINITY && !isDeletion
    const total = isEndless ? Number.POSITIVE_INFINITY : sum(rowLimits)
    const schema = schemaOf(table.object)
    const phase: LoadPhase = {
      plan: this.#plan,
      spans: table.spans,
      table: table.name,
      operation,
      written: {
        columns: isDeletion ? schema.keyColumns : schema.columns,
        columnCount: schema.columns.length,
        rules: this.#plan.values,
      },
      keyBudget: this.#keyBudget,
      progress: new Progress(operation, total, this.#ports),
      ports: this.#ports,
      // Rows that were written are deleted all the same.
      isStopped: () => this.#isInterrupted && !isDeletion,
    }
    return runWriters(phase, rowLimits, this.#services)
  }

  async #check(name: string, before: number, written: number): Promise<void> {
    const most = before + written
    // Of rows that were there before, nobody knows how many were upserted.
    const least = this.#plan.operation === 'UPSERT' && before > 0 ? before : most
    const expected = least === most ? String(most) : `${least} to ${most}`
    const actual = await countRows(this.#services[0], name)
    this.#ports.out('\nScanner report\n')
    this.#ports.out(`  expected rows: ${expected}\n`)
    this.#ports.out(`  actual rows  : ${actual}\n\n`)
    if (actual >= least && actual <= most) return
    throw new CliError(`row count mismatch: expected ${expected}, actual ${actual}`)
  }

  async #drop(name: string): Promise<void> {
    this.#ports.out(`Dropping auto-created table '${name}'\n`)
    const service = this.#services[0]
    await orCliError(`table '${name}' could not be dropped`, () =>
      service.ask({ method: 'DELETE', path: tablePath(name) }),
    )
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
