import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevServer, startDevServer } from '../../scripts/dev-server.ts'
import { murmur2Bucket } from '../../src/common/murmur2.ts'
import { Prng } from '../../src/util/prng.ts'
import { RestClient } from '../support/rest-client.ts'

const ROUNDS = 20
const WRITERS = 4
const BATCH_ROWS = 200
const BUCKETS = 4
const SEED = 20_261_130

interface Batch {
  readonly id: number
  readonly key: string | null
  isAcknowledged: boolean
}

/** Rows of a batch: ids nobody else uses, the batch they belong to, some weight. */
function rowsOf(batch: number): { id: number; batch: number; note: string }[] {
  return Array.from({ length: BATCH_ROWS }, (_, row) => ({
    id: batch * BATCH_ROWS + row,
    batch,
    note: `row ${row} of batch ${batch}`,
  }))
}

/** The bucket, and so the tablet, of an INT32 key: as Kudu computes it. */
function bucketOf(id: number): number {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, (id ^ 0x8000_0000) >>> 0)
  return murmur2Bucket(bytes, 0, 4, 0, BUCKETS)
}

describe('a service killed with SIGKILL under load', () => {
  let server: DevServer
  const batches: Batch[] = []

  beforeAll(async () => {
    server = await startDevServer()
    await new RestClient(server.address).must('POST', '/tables', {
      name: 'kill',
      schema: {
        columns: [
          { name: 'id', type: 'INT32', is_key: true },
          { name: 'batch', type: 'INT32' },
          { name: 'note', type: 'STRING' },
        ],
      },
      partition_schema: {
        hash_schema: [{ columns: ['id'], num_buckets: BUCKETS }],
        range_schema: { columns: [] },
      },
    })
  })

  afterAll(async () => {
    await server.close()
  })

  async function write(client: RestClient, batch: Batch): Promise<boolean> {
    const headers: Record<string, string> =
      batch.key === null ? {} : { 'idempotency-key': batch.key }
    const answer = await client
      .send('POST', '/tables/kill/rows', { rows: rowsOf(batch.id) }, headers)
      .catch(() => null)
    // The service may be gone, or going; whatever else it says it says of a request that is right.
    if (answer === null || answer.status >= 500) return false
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toMatchObject({ inserted: BATCH_ROWS, failed: 0 })
    return true
  }

  /** Writes until the service is gone; calls `onAcknowledged` after each batch. */
  async function writeUntilKilled(
    client: RestClient,
    isKeyed: boolean,
    onAcknowledged: () => void,
  ): Promise<void> {
    for (;;) {
      const id = batches.length
      const batch: Batch = { id, key: isKeyed ? `batch-${id}` : null, isAcknowledged: false }
      batches.push(batch)
      batch.isAcknowledged = await write(client, batch)
      if (!batch.isAcknowledged) return
      onAcknowledged()
    }
  }

  async function restart(): Promise<RestClient> {
    await server.kill()
    server = await startDevServer({ state: server.state })
    return new RestClient(server.address)
  }

  /** Rows found, by batch and bucket. */
  async function countRows(client: RestClient): Promise<Map<string, number>> {
    const counts = new Map<string, number>()
    for (const row of await client.scanStream('kill', {})) {
      expect(row.note).toBe(`row ${row.id % BATCH_ROWS} of batch ${row.batch}`)
      const key = `${row.batch} ${bucketOf(row.id)}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return counts
  }

  function check(counts: Map<string, number>): void {
    for (const { id, isAcknowledged } of batches) {
      const expected = new Array(BUCKETS).fill(0)
      for (const row of rowsOf(id)) expected[bucketOf(row.id)]++
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const found = counts.get(`${id} ${bucket}`) ?? 0
        const wholeOrNothing = found === expected[bucket] || (found === 0 && !isAcknowledged)
        expect(wholeOrNothing, `batch ${id}, bucket ${bucket}: ${found} rows`).toBe(true)
      }
    }
  }

  test(`loses no acknowledged row, halves no op, applies keyed batches once (seed ${SEED})`, {
    timeout: 400_000,
  }, async () => {
    const prng = new Prng(SEED)
    for (let round = 0; round < ROUNDS; round++) {
      const before = batches.length
      const client = new RestClient(server.address)
      const reached = Promise.withResolvers<void>()
      let left = prng.between(1, 40)
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        writeUntilKilled(client, writer % 2 === 0, () => {
          if (--left === 0) reached.resolve()
        }),
      )
      // Whoever the service refuses stops.
      await Promise.race([reached.promise, Promise.all(writers)])
      const restarted = await restart()
      await Promise.all(writers)

      check(await countRows(restarted))
      for (const batch of batches.slice(before)) {
        if (batch.isAcknowledged || batch.key === null) continue
        const body = { rows: rowsOf(batch.id) }
        const headers = { 'idempotency-key': batch.key }
        const answer = await restarted.must('POST', '/tables/kill/rows', body, headers)
        expect(answer).toMatchObject({ inserted: BATCH_ROWS, failed: 0 })
        batch.isAcknowledged = true
      }
      check(await countRows(restarted))
    }
    const acknowledged = batches.filter((batch) => batch.isAcknowledged).length
    process.stdout.write(
      `kill: ${ROUNDS} rounds, ${acknowledged} of ${batches.length} acknowledged, none lost\n`,
    )
    expect(acknowledged).toBeGreaterThan(ROUNDS)
  })
})
