import { describe, expect, test } from 'vitest'
import {
  type MergeInput,
  MergePlanner,
  NEVER,
} from '../../../src/tablet/maintenance/merge-planner.ts'
import { KeyArena } from '../../../src/util/arena.ts'
import { compareWhole, toHex } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'

/** A row of an input: its key, and when it was deleted. */
type InputRow = readonly [key: Uint8Array, deletedAt: number]

function anInput(rows: readonly InputRow[]): MergeInput {
  return {
    rowCount: rows.length,
    hasDeletes: rows.some(([, at]) => at !== NEVER),
    appendKeys: (start, end, into) => {
      for (const [key] of rows.slice(start, end)) {
        into.append(key, 0, key.length)
        into.endKey()
      }
    },
    readDeletions: (start, end, out) => {
      for (let row = start; row < end; row++) out[row - start] = rows[row][1]
    },
  }
}

/** Keys of few different bytes, so that many begin alike or are one another's beginnings. */
function drawKey(prng: Prng, shared: number): Uint8Array {
  const key = new Uint8Array(shared + prng.below(10)).fill(7)
  for (let i = shared; i < key.length; i++) key[i] = prng.pick([0, 1, 255])
  return key
}

describe('MergePlanner', () => {
  test('plans every key once, in order, with the life that ended last as base', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const prng = new Prng(seed)
      const shared = prng.below(4)
      const mark = prng.below(5)
      const rows = new Map<string, { key: Uint8Array; lives: [source: number, at: number][] }>()
      const sourceCount = prng.between(1, 5)
      for (let i = 0; i < 2500; i++) {
        const key = drawKey(prng, shared)
        const known = rows.get(toHex(key)) ?? { key, lives: [] }
        rows.set(toHex(key), known)
        const source = prng.below(sourceCount)
        if (known.lives.some(([other]) => other === source)) continue
        const hasLive = known.lives.some(([, at]) => at === NEVER)
        known.lives.push([source, hasLive || prng.chance(0.5) ? i + 1 : NEVER])
      }
      const sorted = [...rows.values()].sort((a, b) => compareWhole(a.key, b.key))
      const inputs = Array.from({ length: sourceCount }, (_, source) => {
        return sorted.flatMap(({ key, lives }): InputRow[] => {
          return lives.filter(([other]) => other === source).map(([, at]) => [key, at])
        })
      })

      const planner = new MergePlanner(inputs.map(anInput), mark, shared)
      const keys = new KeyArena()
      while (planner.next(prng.between(1, 300), keys)) {}

      const { plan } = planner
      const found = Array.from({ length: plan.rowCount }, (_, row) => {
        const [key, at] = inputs[plan.sources[row]][plan.ordinals[row]]
        const others: number[] = []
        for (let i = plan.olderFrom(row); plan.olderRows[i] === row && i < plan.olderCount; i++) {
          others.push(inputs[plan.olderSources[i]][plan.olderOrdinals[i]][1])
        }
        const ghost = plan.ghostFrom(row)
        const isGhost = ghost < plan.ghostCount && plan.ghostRows[ghost] === row
        const end = isGhost ? plan.ghostTimes[ghost] : NEVER
        const isKey = toHex(keys.key(row)) === toHex(key)
        const ends = [at, ...others.sort((a, b) => b - a)].join(' ')
        return `${toHex(key)} ${isKey && end === at} ${ends}`
      })
      const expected = sorted.flatMap(({ key, lives }) => {
        const ends = lives.map(([, at]) => at).filter((at) => at > mark)
        return ends.length === 0
          ? []
          : [`${toHex(key)} true ${ends.sort((a, b) => b - a).join(' ')}`]
      })
      expect(found, `seed ${seed}`).toEqual(expected)
      expect(planner.readRowCount).toBe(inputs.reduce((sum, { length }) => sum + length, 0))
    }
  })

  test('pauses when many rows were left out', () => {
    const gone = Array.from({ length: 5000 }, (_, i): InputRow => {
      return [new Uint8Array([i >>> 8, i & 255]), 1]
    })
    const planner = new MergePlanner([anInput(gone)], 1, 0)

    expect(planner.next(100, new KeyArena())).toBe(true)
    expect(planner.readRowCount).toBe(200)
    expect(planner.plan.rowCount).toBe(0)
  })
})
