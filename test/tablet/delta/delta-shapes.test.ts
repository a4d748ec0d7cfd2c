import { describe, expect, test } from 'vitest'
import { VarintReader } from '../../../src/cfile/varint.ts'
import { CorruptionError } from '../../../src/common/status.ts'
import { DeltaShapes } from '../../../src/tablet/delta/delta-shapes.ts'
import { ByteArena } from '../../../src/util/arena.ts'
import { Prng } from '../../../src/util/prng.ts'

describe('DeltaShapes', () => {
  test.each([1, 2, 3, 4])('numbers shapes in the order in which they are met (seed %i)', (seed) => {
    const prng = new Prng(seed)
    const columnCount = prng.pick([1, 3, 300])
    const shapes = new DeltaShapes()
    const model = new Map<string, number>()
    for (let record = 0; record < 2000; record++) {
      const kind = prng.between(1, 3)
      const columns = Uint16Array.from({ length: prng.below(4) }, () => prng.below(columnCount))
      const name = `${kind}: ${columns.join()}`
      const expected = model.get(name) ?? model.size
      model.set(name, expected)
      const padded = Uint16Array.of(9, ...columns, 9)
      const number = shapes.numberOf(kind, padded, 1, 1 + columns.length)
      expect(number, `seed ${seed}, record ${record}`).toBe(expected)
    }

    const bytes = new ByteArena()
    shapes.encode(bytes)
    const reader = new VarintReader(bytes.bytes.subarray(0, bytes.length), 0, 'here')
    const decoded = DeltaShapes.decode(reader, 300, 2000)
    expect(decoded.kinds).toEqual(shapes.kinds)
    expect(decoded.ends).toEqual(shapes.ends)
    expect(decoded.columns.subarray(0, decoded.ends.at(-1))).toEqual(
      shapes.columns.subarray(0, shapes.ends.at(-1)),
    )
  })

  test.each([
    ['no kind', [1, 0, 0]],
    ['a kind too many', [1, 4, 0]],
    ['a column that is not there', [1, 1, 1, 2]],
    ['more shapes than records', [9, 2, 0]],
    ['more cells than columns', [1, 1, 3, 0, 0, 0]],
    ['too few bytes', [2, 2, 0]],
  ])('takes %s for corruption', (_, bytes) => {
    const reader = new VarintReader(Uint8Array.from(bytes), 0, 'here')
    expect(() => DeltaShapes.decode(reader, 2, 5)).toThrow(CorruptionError)
  })
})
