import { describe, expect, test } from 'vitest'
import { MAINTENANCE_OPS } from '../../../src/common/maintenance-op.ts'
import { Prng } from '../../../src/util/prng.ts'
import { aNewTable } from '../../support/a-table.ts'
import { LocalApp } from '../../support/local-app.ts'
import { LocalService } from '../../support/local-service.ts'

const SEEDS = (process.env.NYALA_TOKEN_SEEDS ?? '1 2 3').split(' ').map(Number)
const COLUMNS = ['a STRING KEY', 'b INT32 KEY', 'n INT64 NULL', 'x BINARY NULL']
const ORDERS = ['UNORDERED', 'ORDERED', 'DESCENDING'] as const

interface ShownToken {
  readonly scan_token: string
}

/** A service whose tablets are written to, flushed, compacted and evicted at random. */
class TokenWorld {
  readonly prng: Prng
  readonly app: LocalApp

  constructor(seed: number) {
    this.prng = new Prng(seed)
    const service = new LocalService({ seed, evictChance: 0.05, skewMicrosMax: 100_000 })
    this.app = new LocalApp({}, service)
    this.app.makeTable(aNewTable('t', COLUMNS, this.prng.between(1, 5)))
  }

  /** Something that changes rows, or how they are stored. */
  async disturb(): Promise<void> {
    const { prng, app } = this
    if (prng.chance(0.5)) {
      await this.#write(prng.pick([10, 300, 1500]))
      return
    }
    const op = prng.pick(MAINTENANCE_OPS)
    for (const [tabletId, tablet] of app.service.tablets) {
      if (prng.chance(0.3)) continue
      await tablet.maintain({ wire: 1, tabletId, op, requestId: `${prng.uint32()}` })
    }
  }

  async #write(count: number): Promise<void> {
    const { prng } = this
    const operations = Array.from({ length: count }, () => {
      const key = { a: `a${prng.below(9)}\u00ff${prng.below(5)}`, b: prng.between(-500, 500) }
      if (prng.chance(0.3)) return { operation: 'DELETE_IGNORE', row: key }
      const n = prng.chance(0.2) ? null : prng.below(100)
      return { operation: 'UPSERT', row: { ...key, n, x: btoa('\u00ff'.repeat(prng.below(40))) } }
    })
    await this.app.must('POST', '/t/rows', { body: { operations } })
  }

  /** A scan as a client would ask for it. */
  drawScan(): Record<string, unknown> {
    const { prng } = this
    const predicates: object[] = []
    if (prng.chance(0.3))
      predicates.push({ column: 'a', op: 'STARTS WITH', value: `a${prng.below(9)}` })
    if (prng.chance(0.2)) predicates.push({ column: 'n', op: 'IS NOT NULL' })
    if (prng.chance(0.2)) predicates.push({ column: 'n', op: '<', value: prng.below(100) })
    if (prng.chance(0.2))
      predicates.push({
        column: 'x',
        op: 'STARTS WITH',
        value: btoa('\u00ff'.repeat(prng.below(9))),
      })
    const bounds = prng.chance(0.3)
      ? {
          primary_key_lower: { a: `a${prng.below(4)}`, b: 7 },
          primary_key_upper: { a: `a${prng.between(3, 9)}`, b: -7 },
        }
      : {}
    return { predicates, order: prng.pick(ORDERS), ...bounds }
  }

  async read(body: object): Promise<string[]> {
    const path = '/api/v1/tables/t/scan?format=ndjson'
    const answer = await this.app.send('POST', path, { body })
    expect(answer.status, answer.text).toBe(200)
    return answer.text.split('\n').filter((line) => line !== '')
  }

  /** The rows of a token, whole or page by page, with changes in between. */
  async readToken({ scan_token: token }: ShownToken): Promise<string[]> {
    if (this.prng.chance(0.7)) return this.read({ scan_token: token })
    const lines: string[] = []
    let more: object = {}
    for (;;) {
      const body = { scan_token: token, page_size: this.prng.between(50, 900), ...more }
      const page = await this.app.must('POST', '/t/scan', { body })
      lines.push(...page.rows.map((row: object) => JSON.stringify(row)))
      if (page.next_page_token === undefined) return lines
      more = { page_token: page.next_page_token }
      if (this.prng.chance(0.3)) await this.disturb()
    }
  }
}

describe('scan tokens', () => {
  test.each(SEEDS)(
    'give each row of the scan once, whatever is done meanwhile, seed %i',
    async (seed) => {
      const world = new TokenWorld(seed)
      const { prng, app } = world
      let tokenCount = 0
      for (let round = 0; round < 4; round++) {
        for (let i = prng.between(1, 4); i > 0; i--) await world.disturb()
        const scan = world.drawScan()
        const target = prng.chance(0.8) ? { target_bytes: prng.pick([1, 500, 5000, 50_000]) } : {}
        const made = await app.must('POST', '/t/scan_tokens', { body: { ...scan, ...target } })
        const time = made.snapshot_timestamp
        const expected = await world.read({ ...scan, snapshot_timestamp: time })
        const found: string[] = []
        const tokens = prng.chance(0.5) ? made.tokens : [...made.tokens].reverse()
        for (const token of tokens) {
          if (prng.chance(3 / tokens.length)) await world.disturb()
          const lines = await world.readToken(token)
          if (scan.order !== 'UNORDERED') {
            const given = new Set(lines)
            const kept = expected.filter((line) => given.has(line))
            expect(lines, `seed ${seed}, round ${round}`).toEqual(kept)
          }
          found.push(...lines)
        }
        tokenCount += tokens.length
        expect(found.sort(), `seed ${seed}, round ${round}`).toEqual(expected.sort())
      }
      expect(tokenCount).toBeGreaterThan(5)
    },
  )
})
