import { describe, expect, test } from 'vitest'
import { Prng } from '../../src/util/prng.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'
import { type PlainRow, RouterClient } from '../support/router-client.ts'

const KEYS = 12
const REMEMBERED_MAX = 20

interface Snapshot {
  readonly time: number
  readonly rows: readonly PlainRow[]
}

function byId(rows: readonly PlainRow[]): readonly PlainRow[] {
  return [...rows].sort((a, b) => Number(a.id) - Number(b.id))
}

/** Two writers and two readers, each behind a front of its own; every clock is up to 50 ms off. */
class Contest {
  readonly service: LocalService
  /** Per key the newest value whose write was acknowledged. */
  readonly acknowledged = new Array<number>(KEYS).fill(0)
  readonly remembered: Snapshot[] = []
  readonly #prng: Prng
  #value = 0
  scans = 0

  readonly #rounds: number

  constructor(seed: number, evictChance: number, rounds: number) {
    this.#rounds = rounds
    this.service = new LocalService({ seed, skewMicrosMax: 50_000, evictChance })
    this.service.createTable(aNewTable('contest', ['id INT32 KEY', 'value INT32'], 4))
    this.#prng = new Prng(seed)
  }

  client(): RouterClient {
    return new RouterClient(this.service.front(), 'contest')
  }

  /** A writer owns every second key, so that the values of one key are acknowledged in order. */
  async write(client: RouterClient, writer: number): Promise<void> {
    while (this.scans < this.#rounds) {
      const id = writer + 2 * this.#prng.below(KEYS / 2)
      const value = ++this.#value
      await client.write('UPSERT', [{ id, value }])
      this.acknowledged[id] = value
    }
  }

  async read(client: RouterClient): Promise<void> {
    while (this.scans < this.#rounds) {
      this.scans++
      const before = [...this.acknowledged]
      const order = this.#prng.pick(['UNORDERED', 'ORDERED'] as const)
      const { rows, snapshot } = await client.scan({ order })
      const found = new Array<number>(KEYS).fill(0)
      for (const row of rows) found[Number(row.id)] = Number(row.value)
      for (let id = 0; id < KEYS; id++) {
        expect(found[id], `key ${id} in scan ${this.scans}`).toBeGreaterThanOrEqual(before[id])
      }
      this.#remember({ time: snapshot, rows: byId(rows) })
      await this.#checkRemembered(client)
    }
  }

  #remember(snapshot: Snapshot): void {
    if (this.remembered.length < REMEMBERED_MAX) this.remembered.push(snapshot)
    else this.remembered[this.#prng.below(REMEMBERED_MAX)] = snapshot
  }

  async #checkRemembered(client: RouterClient): Promise<void> {
    if (!this.#prng.chance(0.2)) return
    const { time, rows } = this.#prng.pick(this.remembered)
    const again = await client.scan({}, { mode: 'READ_AT_SNAPSHOT', snapshot: time })
    expect(byId(again.rows), `snapshot ${time} seen again`).toEqual(rows)
  }
}

async function run(seed: number, evictChance: number, rounds: number): Promise<Contest> {
  const contest = new Contest(seed, evictChance, rounds)
  await Promise.all([
    contest.write(contest.client(), 0),
    contest.write(contest.client(), 1),
    contest.read(contest.client()),
    contest.read(contest.client()),
  ])
  return contest
}

describe('READ_LATEST with clocks up to 50 ms apart', () => {
  const timeout = 120_000

  test('never misses an acknowledged write, its snapshots never change (seed 11)', {
    timeout,
  }, async () => {
    const contest = await run(11, 0, 2000)

    expect(contest.scans).toBeGreaterThanOrEqual(2000)
  })

  test.each([21, 22])(
    'holds when memory of tablets vanishes between calls (seed %i)',
    { timeout },
    async (seed) => {
      const contest = await run(seed, 0.02, 150)

      const evictions = [...contest.service.tablets.values()].map((tablet) => tablet.evictions)
      expect(Math.min(...evictions)).toBeGreaterThan(1)
    },
  )
})
