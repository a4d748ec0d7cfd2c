import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevServer, startDevServer } from '../../scripts/dev-server.ts'
import { Prng } from '../../src/util/prng.ts'
import { RestClient } from '../support/rest-client.ts'
import {
  type ModelOutcome,
  type ModelRow,
  OPERATIONS,
  type Operation,
  TableModel,
} from '../support/table-model.ts'

const SEED = 4_071_789
const WRITERS = 4
const BATCH_ROWS = 1000
const SNAPSHOTS = 10
const BATCHES_BETWEEN = 5
const IDS = 6000

const SHAPE = {
  keyColumns: ['id', 'part'],
  defaults: { value: null, name: 'none', amount: '0.50', flag: null },
}

interface Remembered {
  readonly timestamp: number
  readonly model: TableModel
}

interface Write {
  readonly operation: Operation
  readonly row: ModelRow
}

/** One of the writer's own keys, and cells that are set, null or left out at random. */
function drawWrite(prng: Prng, writer: number): Write {
  const operation = prng.pick(OPERATIONS)
  const row: Record<string, ModelRow[string]> = {
    id: writer + WRITERS * prng.below(IDS / WRITERS) - IDS / 2,
    part: prng.pick(['', 'a', 'b\u0000c']),
  }
  if (operation.startsWith('DELETE') && prng.chance(0.95)) return { operation, row }
  if (prng.chance(0.6)) row.value = prng.chance(0.1) ? null : prng.between(-1e6, 1e6)
  if (prng.chance(0.6)) row.name = `name ${prng.below(50)} “ü”`
  if (prng.chance(0.4)) row.amount = `${prng.between(-99, 99)}.${prng.between(10, 99)}`
  if (prng.chance(0.3)) row.flag = prng.chance(0.5)
  return { operation, row }
}

/** Sorted as the primary key is: numbers by value, texts by bytes. */
function inKeyOrder(rows: readonly ModelRow[]): ModelRow[] {
  return [...rows].sort(
    (a, b) =>
      Number(a.id) - Number(b.id) ||
      Buffer.compare(Buffer.from(String(a.part)), Buffer.from(String(b.part))),
  )
}

function tally(outcomes: readonly ModelOutcome[]): Record<string, number> {
  const counts = { inserted: 0, upserted: 0, updated: 0, deleted: 0, ignored: 0, failed: 0 }
  for (const outcome of outcomes) {
    if (outcome in counts) counts[outcome as keyof typeof counts]++
    else counts.failed++
  }
  return counts
}

describe('a table written by several clients with all operations', () => {
  let server: DevServer
  let client: RestClient

  beforeAll(async () => {
    server = await startDevServer()
    client = new RestClient(server.address)
    await client.must('POST', '/tables', {
      name: 'mixed',
      schema: {
        columns: [
          { name: 'id', type: 'INT32', is_key: true },
          { name: 'part', type: 'STRING', is_key: true },
          { name: 'value', type: 'INT64', is_nullable: true },
          { name: 'name', type: 'STRING', default: 'none' },
          {
            name: 'amount',
            type: 'DECIMAL',
            type_attributes: { precision: 10, scale: 2 },
            default: '0.50',
          },
          { name: 'flag', type: 'BOOL', is_nullable: true },
        ],
      },
      partition_schema: {
        hash_schema: [{ columns: ['part'], num_buckets: 3 }],
        range_schema: { columns: ['id'], split_rows: [{ id: 0 }] },
      },
    })
  })

  afterAll(async () => {
    await server.close()
  })

  async function writeBatch(model: TableModel, prng: Prng, writer: number): Promise<void> {
    const writes = Array.from({ length: BATCH_ROWS }, () => drawWrite(prng, writer))
    const outcomes = writes.map(({ operation, row }) => model.apply(operation, row))
    const answer = await client.must('POST', '/tables/mixed/rows', { operations: writes })
    expect(answer).toMatchObject({ rows: BATCH_ROWS, ...tally(outcomes) })
    const expected = outcomes.flatMap((outcome, index) =>
      outcome === outcome.toUpperCase() ? [`${index} ${outcome}`] : [],
    )
    const errors: { row_index: number; code: string }[] = answer.row_errors
    expect(errors.map((error) => `${error.row_index} ${error.code}`)).toEqual(expected)
  }

  async function expectEqual(model: TableModel, scan: object): Promise<void> {
    const expected = inKeyOrder(model.rows())
    const ordered = { ...scan, order: 'ORDERED' }
    expect(await client.scanStream('mixed', ordered)).toEqual(expected)
    expect(await client.scanPages('mixed', ordered, 777)).toEqual(expected)
    expect(inKeyOrder(await client.scanStream('mixed', scan))).toEqual(expected)
    expect(inKeyOrder(await client.scanPages('mixed', scan, 1500))).toEqual(expected)
    const descending = await client.scanStream('mixed', { ...scan, order: 'DESCENDING' })
    expect(descending).toEqual([...expected].reverse())
  }

  test(`equals a plain model, now and at ${SNAPSHOTS} remembered snapshots (seed ${SEED})`, {
    timeout: 300_000,
  }, async () => {
    // Writers own disjoint keys, so that one model says what all of them together must come to.
    const model = new TableModel(SHAPE)
    const prngs = Array.from({ length: WRITERS }, (_, writer) => new Prng(SEED + writer))
    const remembered: Remembered[] = []
    for (let snapshot = 0; snapshot < SNAPSHOTS; snapshot++) {
      await Promise.all(
        prngs.map(async (prng, writer) => {
          for (let i = 0; i < BATCHES_BETWEEN; i++) await writeBatch(model, prng, writer)
        }),
      )
      const page = await client.must('POST', '/tables/mixed/scan', { limit: 1 })
      remembered.push({ timestamp: page.snapshot_timestamp, model: model.copy() })
    }

    await expectEqual(model, {})
    for (const { timestamp, model: then } of remembered) {
      await expectEqual(then, { snapshot_timestamp: timestamp })
    }
  })
})
