import { describe, expect, test } from 'vitest'
import { encodeFlatbuffer, flatInteger, flatTable } from '../../../src/api/format/flatbuffer.ts'
import { utf8Decode } from '../../../src/util/bytes.ts'

/** Reads as any reader would: by offsets only. */
class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  follow(at: number): number {
    return at + this.#view.getUint32(at, true)
  }

  field(table: number, index: number): number {
    const vtable = table - this.#view.getInt32(table, true)
    const slot = 4 + index * 2
    if (slot >= this.#view.getUint16(vtable, true)) return 0
    const offset = this.#view.getUint16(vtable + slot, true)
    return offset === 0 ? 0 : table + offset
  }

  integer(at: number, bytes: number): bigint {
    expect(at % bytes).toBe(0)
    const bits = BigInt.asIntN(bytes * 8, this.#unsigned(at, bytes))
    return bits
  }

  text(reference: number): string {
    const at = this.follow(reference)
    const length = this.#view.getUint32(at, true)
    expect(this.#bytes[at + 4 + length]).toBe(0)
    return utf8Decode(this.#bytes.subarray(at + 4, at + 4 + length))
  }

  count(reference: number): number {
    return this.#view.getUint32(this.follow(reference), true)
  }

  #unsigned(at: number, bytes: number): bigint {
    let value = 0n
    for (let i = bytes - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.#bytes[at + i])
    return value
  }
}

describe('encodeFlatbuffer', () => {
  test('writes integers of every size, each where it may be read', () => {
    const values = [-1, 7, -(2 ** 31), 2 ** 53, -5, -(2 ** 40), 2 ** 32, 1]
    const sizes = [1, 2, 4, 8, 8, 8, 8, 1] as const
    const bytes = encodeFlatbuffer(values.map((value, i) => flatInteger(sizes[i], value)))
    const reader = new Reader(bytes)

    const root = reader.follow(0)
    const got = values.map((_, i) => reader.integer(reader.field(root, i), sizes[i]))
    expect(got).toEqual(values.map(BigInt))
    expect(bytes.length % 8).toBe(0)
  })

  test('leaves fields out', () => {
    const reader = new Reader(encodeFlatbuffer([null, flatInteger(4, 3), null]))

    const root = reader.follow(0)
    expect([0, 1, 2, 3].map((index) => reader.field(root, index) > 0)).toEqual([
      false,
      true,
      false,
      false,
    ])
  })

  test('writes texts, tables in tables, lists of tables and of pairs', () => {
    const pairs = Float64Array.of(1, 2 ** 40, -3, 4)
    const reader = new Reader(
      encodeFlatbuffer([
        { kind: 'text', text: 'naïve 水' },
        flatTable(flatInteger(1, 9), { kind: 'text', text: '' }),
        { kind: 'tables', tables: [[flatInteger(2, 1)], [flatInteger(2, 2)]] },
        { kind: 'pairs', values: pairs },
        { kind: 'tables', tables: [] },
      ]),
    )

    const root = reader.follow(0)
    expect(reader.text(reader.field(root, 0))).toBe('naïve 水')
    const inner = reader.follow(reader.field(root, 1))
    expect(reader.integer(reader.field(inner, 0), 1)).toBe(9n)
    expect(reader.text(reader.field(inner, 1))).toBe('')
    const list = reader.field(root, 2)
    expect(reader.count(list)).toBe(2)
    const second = reader.follow(reader.follow(list) + 8)
    expect(reader.integer(reader.field(second, 0), 2)).toBe(2n)
    const vector = reader.field(root, 3)
    expect(reader.count(vector)).toBe(2)
    const elements = [0, 1, 2, 3].map((i) => reader.integer(reader.follow(vector) + 4 + i * 8, 8))
    expect(elements).toEqual([1n, 2n ** 40n, -3n, 4n])
    expect(reader.count(reader.field(root, 4))).toBe(0)
  })
})
