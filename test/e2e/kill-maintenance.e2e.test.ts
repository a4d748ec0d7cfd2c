import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAINTENANCE_OPS, type MaintenanceOp } from '../../src/common/maintenance-op.ts'
import { Prng } from '../../src/util/prng.ts'
import { RestClient } from '../support/rest-client.ts'
import { StoredTablets } from '../support/stored-tablets.ts'
import type { ModelRow } from '../support/table-model.ts'
import { type WorkerProcess, WorkerService } from '../support/worker-service.ts'
import {
  digestOf,
  type ModelBatch,
  rowTexts,
  tallyOf,
  WRITER_COLUMNS,
  WriterModel,
} from '../support/writer-model.ts'

const ROUNDS = Number(process.env.NYALA_KILL_ROUNDS ?? 12)
const SEED = Number(process.env.NYALA_KILL_SEED ?? 20_261_201)
const WRITERS = 4
const KEYS = 800
const BATCH_ROWS = 120
const BUCKETS = 3
const TABLE = '/tables/killed'
const MAINTAINERS = 3
/** What maintenance callers draw from: each row of ops has to have something to work on. */
const DRAWN_OPS: readonly MaintenanceOp[] = [
  'FLUSH_MRS',
  'FLUSH_DMS',
  'FLUSH_DMS',
  'FLUSH_DMS',
  'MINOR_DELTA_COMPACT',
  'MINOR_DELTA_COMPACT',
  'MAJOR_DELTA_COMPACT',
  'COMPACT',
  'GC',
]

/** Those that leave files behind when they are not brought to their end. */
const LONG_OPS: readonly MaintenanceOp[] = ['FLUSH_MRS', 'COMPACT', 'MAJOR_DELTA_COMPACT']
/** A run of so many rounds must have killed amidst an op, and have run each. */
const LONG_ROUNDS = 30

/** What a scan at a timestamp has to show: for each writer, after one of some batches. */
interface Snapshot {
  readonly timestamp: number
  readonly first: readonly number[]
  readonly last: readonly number[]
  digest: string | null
}

class Writer {
  readonly model: WriterModel
  readonly prng: Prng
  readonly isKeyed: boolean
  /** Timestamps of answers by batch; null: no answer, or nothing was applied. */
  readonly timestamps: (number | null)[] = []
  /** Batches whose fate is known. */
  settled = 0
  unanswered: ModelBatch | null = null

  constructor(index: number) {
    this.model = new WriterModel(index, WRITERS, KEYS, BUCKETS)
    this.prng = new Prng(SEED + index)
    this.isKeyed = index % 2 === 0
  }

  /** Batches that a read at a timestamp is sure to see. */
  seenAt(timestamp: number): number {
    return this.timestamps.findLastIndex((at) => at !== null && at <= timestamp) + 1
  }

  headers({ number }: ModelBatch): Record<string, string> {
    return this.isKeyed ? { 'idempotency-key': `writer-${this.model.writer}-${number}` } : {}
  }
}

describe('a service killed with SIGKILL while it flushes and compacts', () => {
  let service: WorkerService
  let process_: WorkerProcess
  let client: RestClient
  let isKilled = false
  const prng = new Prng(SEED - 1)
  const writers = Array.from({ length: WRITERS }, (_, index) => new Writer(index))
  const snapshots: Snapshot[] = []
  const runs = new Map<MaintenanceOp, number>(MAINTENANCE_OPS.map((op) => [op, 0]))
  let tabletIds: string[] = []
  let readCount = 0
  /** How long an op took that did something. */
  let maintenanceMs = 50
  let onMaintenance: (op: MaintenanceOp) => void = () => undefined

  beforeAll(async () => {
    service = await WorkerService.build()
    await start()
    await client.must('POST', '/tables', {
      name: 'killed',
      schema: { columns: WRITER_COLUMNS },
      partition_schema: {
        hash_schema: [{ columns: ['id'], num_buckets: BUCKETS }],
        range_schema: { columns: [] },
      },
    })
    const { tablets } = await client.must('GET', `${TABLE}/tablets`)
    tabletIds = tablets.map((tablet: { tablet_id: string }) => tablet.tablet_id)
  })

  afterAll(async () => {
    await process_.kill()
    await service.remove()
  })

  async function start(): Promise<void> {
    process_ = await service.start()
    client = new RestClient(process_.address)
    isKilled = false
  }

  async function kill(): Promise<void> {
    isKilled = true
    await process_.kill()
  }

  /** Sends a request that succeeds unless the service is killed. Returns: null then. */
  async function ask(...[method, path, body, headers]: Parameters<RestClient['send']>) {
    const answer = await client.send(method, path, body, headers).catch(() => null)
    if (answer?.status === 200) return answer
    if (!isKilled) throw new Error(`${method} ${path}: ${answer?.status} ${answer?.text}`)
    return null
  }

  function expectCounts(writer: Writer, batch: ModelBatch, answer: object): void {
    const where = `seed ${SEED}, writer ${writer.model.writer}, batch ${batch.number}`
    const expected = { rows: BATCH_ROWS, ...tallyOf(batch.outcomes) }
    expect(answer, where).toMatchObject(expected)
  }

  async function writeUntilKilled(writer: Writer, onAcknowledged: () => void): Promise<void> {
    while (!isKilled) {
      const batch = writer.model.next(writer.prng, BATCH_ROWS)
      writer.unanswered = batch
      const body = { operations: batch.writes }
      const answer = await ask('POST', `${TABLE}/rows`, body, writer.headers(batch))
      if (answer === null) return
      expectCounts(writer, batch, answer.json)
      acknowledge(writer, batch, answer.json.timestamp)
      onAcknowledged()
    }
  }

  function acknowledge(writer: Writer, batch: ModelBatch, timestamp: number | null): void {
    writer.timestamps[batch.number - 1] = timestamp
    writer.settled = batch.number
    writer.unanswered = null
    if (timestamp === null || !prng.chance(0.1)) return
    snapshots.push({
      timestamp,
      first: writers.map((other) => other.seenAt(timestamp)),
      last: writers.map((other) => other.model.batchCount),
      digest: null,
    })
  }

  async function maintainUntilKilled(): Promise<void> {
    while (!isKilled) {
      const op = prng.pick(DRAWN_OPS)
      const begun = performance.now()
      onMaintenance(op)
      const path = prng.chance(0.5) ? TABLE : `/tablets/${prng.pick(tabletIds)}`
      const answer = await ask('POST', `${path}/maintenance`, { op }).catch((error: unknown) => {
        // A tablet that no row has reached yet.
        if (String(error).includes(' 404 ')) return null
        throw error
      })
      if (answer === null) continue
      const done: { runs: number }[] = answer.json.tablets ?? [answer.json]
      const count = done.reduce((sum, tablet) => sum + tablet.runs, 0)
      runs.set(op, runs.get(op)! + count)
      if (count > 0) maintenanceMs = performance.now() - begun
    }
  }

  async function readUntilKilled(): Promise<void> {
    while (!isKilled) {
      const first = writers.map((writer) => writer.settled)
      const remembered = prng.chance(0.5) && snapshots.length > 0 ? prng.pick(snapshots) : null
      const scan = remembered === null ? {} : { snapshot_timestamp: remembered.timestamp }
      const texts = await scanUnlessKilled(scan)
      if (texts === null) return
      readCount++
      if (remembered !== null) expectSnapshot(remembered, texts)
      else
        expectBetween(
          texts,
          first,
          writers.map((writer) => writer.model.batchCount),
        )
    }
  }

  async function scanUnlessKilled(scan: object): Promise<Map<number, string> | null> {
    const body = prng.chance(0.5) ? scan : { ...scan, order: prng.pick(['ORDERED', 'DESCENDING']) }
    const reading = prng.chance(0.7)
      ? client.scanStream('killed', body)
      : client.scanPages('killed', body, 700)
    const rows = await reading.catch((error: unknown) => {
      if (!isKilled) throw error
      return null
    })
    return rows === null ? null : rowTexts(rows as ModelRow[])
  }

  async function scan(body: object = {}): Promise<Map<number, string>> {
    return rowTexts(await client.scanStream('killed', body))
  }

  /** Each writer's rows of each bucket are those after one of its batches `[first, last]`. */
  function expectBetween(
    texts: ReadonlyMap<number, string>,
    first: readonly number[],
    last: readonly number[],
    where = `seed ${SEED}`,
  ): void {
    for (const [index, { model }] of writers.entries()) {
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        if (model.batchOf(bucket, texts, first[index], last[index]) >= 0) continue
        const differences = [first[index], last[index]].map((batch) =>
          model.difference(bucket, texts, batch),
        )
        throw new Error(`${where}, bucket ${bucket}: ${differences.join('; ')}`)
      }
    }
  }

  function expectSnapshot(snapshot: Snapshot, texts: ReadonlyMap<number, string>): void {
    const digest = digestOf(texts)
    if (snapshot.digest === digest) return
    const where = `seed ${SEED}, at ${snapshot.timestamp}`
    expectBetween(texts, snapshot.first, snapshot.last, where)
    if (snapshot.digest !== null) throw new Error(`${where}: not what was read before`)
    snapshot.digest = digest
  }

  async function checkSnapshots(chosen: readonly Snapshot[]): Promise<void> {
    for (const snapshot of chosen) {
      expectSnapshot(snapshot, await scan({ snapshot_timestamp: snapshot.timestamp }))
    }
  }

  /** Finds out what became of the batches without an answer. */
  async function settle(): Promise<void> {
    const texts = await scan()
    for (const writer of writers) {
      const { model, unanswered } = writer
      if (unanswered === null) continue
      const { number } = unanswered
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const found = model.batchOf(bucket, texts, number - 1, number)
        if (found < 0) throw new Error(`${SEED}: ${model.difference(bucket, texts, number)}`)
        if (found < number && !writer.isKeyed) model.undo(bucket)
      }
      writer.timestamps[number - 1] = null
      if (writer.isKeyed) {
        const body = { operations: unanswered.writes }
        const answer = await client.must('POST', `${TABLE}/rows`, body, writer.headers(unanswered))
        expectCounts(writer, unanswered, answer)
      }
      writer.settled = number
      writer.unanswered = null
    }
  }

  async function check(): Promise<void> {
    const now = writers.map((writer) => writer.settled)
    expectBetween(await scan(), now, now)
    const statistics = await client.must('GET', `${TABLE}/statistics`)
    const rowCount = writers.reduce((sum, { model }) => sum + model.rowCount, 0)
    expect(statistics.live_row_count, `seed ${SEED}`).toBe(rowCount)
  }

  async function checkPoints(): Promise<void> {
    const ids = Array.from({ length: 200 }, () => prng.below(KEYS * WRITERS))
    const body = { keys: ids.map((id) => ({ id })) }
    const { rows } = await client.must('POST', `${TABLE}/rows/get`, body)
    const found = rows.map((row: ModelRow | null) => row && [...rowTexts([row]).values()][0])
    const expected = ids.map((id) => {
      const { model, settled } = writers[id % WRITERS]
      return model.textAt(id, settled)
    })
    expect(found, `seed ${SEED}`).toEqual(expected)
  }

  async function runRound(): Promise<void> {
    const reached = Promise.withResolvers<void>()
    let left = prng.between(1, 24)
    const onAcknowledged = () => {
      if (--left === 0) reached.resolve()
    }
    const loops = [
      ...writers.map((writer) => writeUntilKilled(writer, onAcknowledged)),
      ...Array.from({ length: MAINTAINERS }, () => maintainUntilKilled()),
      readUntilKilled(),
    ]
    const running = Promise.all(loops)
    await Promise.race([reached.promise, running])
    const begun = new Promise<void>((resolve) => {
      const isAnyOp = prng.chance(0.3)
      onMaintenance = (op) => {
        if (isAnyOp || LONG_OPS.includes(op)) resolve()
      }
    })
    await Promise.race([begun, running])
    await new Promise((resolve) => setTimeout(resolve, prng.unit() * maintenanceMs))
    await kill()
    await running
  }

  test(`loses nothing acknowledged in ${ROUNDS} rounds and changes no snapshot (seed ${SEED})`, {
    timeout: 60_000 + ROUNDS * 30_000,
  }, async () => {
    const stored = new StoredTablets(service.state)
    let amidst = 0
    for (let round = 0; round < ROUNDS; round++) {
      await runRound()
      if ((await stored.read()).some(({ orphanFiles }) => orphanFiles.length > 0)) amidst++
      await start()
      await settle()
      await check()
      await checkPoints()
      await checkSnapshots(snapshots.slice(-2))
      if (snapshots.length > 0) await checkSnapshots([prng.pick(snapshots)])
    }
    for (const op of MAINTENANCE_OPS) await client.must('POST', `${TABLE}/maintenance`, { op })
    await check()
    await checkSnapshots(snapshots)
    await kill()
    for (const { tables, needed } of await stored.read()) expect(tables).toEqual(needed)

    const done = [...runs].map(([op, count]) => `${op} ${count}`).join(', ')
    process.stdout.write(
      `kill: ${ROUNDS} rounds, ${amidst} of them amidst a flush or compaction; ` +
        `${writers.reduce((sum, { settled }) => sum + settled, 0)} batches, ${readCount} scans, ` +
        `${snapshots.length} snapshots; ${done}\n`,
    )
    expect(runs.get('FLUSH_MRS')).toBeGreaterThan(0)
    if (ROUNDS < LONG_ROUNDS) return
    for (const [op, count] of runs) expect(count, op).toBeGreaterThan(0)
    expect(amidst).toBeGreaterThan(0)
  })
})
