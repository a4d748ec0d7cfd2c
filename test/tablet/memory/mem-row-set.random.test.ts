import { describe, expect, test } from 'vitest'
import type { ColumnPredicate } from '../../../src/common/column-predicate.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { successorKey } from '../../../src/common/encoded-key.ts'
import type { Schema } from '../../../src/common/schema.ts'
import { ABSENT } from '../../../src/tablet/memory/key-index.ts'
import type { RowSet } from '../../../src/tablet/row-set.ts'
import { lookupRows } from '../../../src/tablet/scan/key-lookup.ts'
import { openScan, type ScanOptions } from '../../../src/tablet/scan/tablet-scanner.ts'
import { EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import type { PlainCell, PlainRow } from '../../support/a-write-block.ts'
import { type Accepts, drawPredicate } from '../../support/draw-predicate.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import { blockOf, hashesOf, keysOf, rowsOf, schemaWith } from '../../support/row-data.ts'
import { RowModel } from '../../support/row-model.ts'
import { inSomeOrder, selectedRows } from '../../support/selected-rows.ts'

const VALUE_COLUMNS = [
  'flag BOOL NULL',
  ['tiny INT8', { writeDefault: 1 }],
  'small INT16 NULL',
  ['day DATE NULL', { writeDefault: 3, isImmutable: true }],
  ['long INT64 NULL', { writeDefault: -1n }],
  'real FLOAT NULL',
  'double DOUBLE NULL',
  'money DECIMAL(30,2) NULL',
  ['text STRING NULL', { writeDefault: utf8Encode('default') }],
] as const
const FIRST_SCHEMA = schemaWith('a INT32 KEY', 'b STRING KEY', ...VALUE_COLUMNS)
/** One more column, which rows of the first schema show with its read default. */
const SECOND_SCHEMA = schemaWith('a INT32 KEY', 'b STRING KEY', ...VALUE_COLUMNS, [
  'added STRING NULL',
  { readDefault: utf8Encode('old'), writeDefault: utf8Encode('new') },
])

/** Few values of each column, so that predicates and rows meet. */
const DOMAINS: Readonly<Record<string, readonly PlainCell[]>> = {
  flag: [0, 1],
  tiny: [-128, -1, 0, 1, 127],
  small: [-300, 0, 300],
  day: [-719_162, 0, 3, 2_932_896],
  long: [-(2n ** 63n), -1n, 0n, 2n ** 32n, 2n ** 63n - 1n],
  real: [Number.NaN, -0, 0, 0.5, Number.POSITIVE_INFINITY, -1.5],
  double: [Number.NaN, -0, 0, 1e300, Number.NEGATIVE_INFINITY],
  money: [-(10n ** 29n), -1n, 0n, 2n ** 64n, 10n ** 29n],
  text: [
    '',
    'a',
    'foo',
    'foobaz',
    'default',
    'a text longer than forty-eight bytes, so that it is copied whole',
  ],
  added: ['old', 'new', ''],
}

interface Step {
  readonly kind: 'insert' | 'update' | 'delete'
  readonly row: PlainRow
}

/**
 * MemRowSets of one tablet, written to in a random way, and a model that says what they must show.
 */
class RandomTablet {
  readonly prng: Prng
  readonly model = new RowModel(['a', 'b'])
  /** Newest first. */
  readonly writers: MemRowWriter[] = [new MemRowWriter(FIRST_SCHEMA)]
  at = 100

  constructor(prng: Prng) {
    this.prng = prng
  }

  get schema(): Schema {
    return this.writers[0].schema
  }

  aKey(): PlainRow {
    const { prng } = this
    if (prng.chance(0.5)) return { a: prng.below(3), b: prng.pick(['', 'x']) }
    return {
      a: prng.between(-20, 20),
      b: prng.pick(['', '\0', 'a', 'a\0', 'ab', 'long key '.repeat(9)]),
    }
  }

  aRow(key: PlainRow): PlainRow {
    const row: Record<string, PlainCell> = { ...key }
    for (const column of this.schema.columns) {
      if (column.isKey || this.prng.chance(0.5)) continue
      const isNull = column.isNullable && this.prng.chance(0.2)
      row[column.name] = isNull ? null : this.prng.pick(DOMAINS[column.name])
    }
    return row
  }

  /** One op of a few steps, each on whatever the steps before it left. */
  write(): void {
    this.at += this.prng.below(3) === 0 ? 1 : 10
    const count = this.prng.between(1, 12)
    let inserts: PlainRow[] = []
    for (let i = 0; i < count; i++) {
      const key = this.aKey()
      const isLive = this.model.at(this.at, key) !== null
      const kind = isLive ? this.prng.pick(['update', 'update', 'delete'] as const) : 'insert'
      const isKnown = this.writers.some((it) => it.slot(key) !== ABSENT)
      const isPending = inserts.some((row) => this.model.compareKeys(row, key) === 0)
      if (inserts.length > 0 && (kind !== 'insert' || isKnown || isPending)) {
        this.writers[0].insert(this.at, ...inserts)
        inserts = []
      }
      const step: Step = { kind, row: kind === 'delete' ? key : this.aRow(key) }
      const isNew = kind === 'insert' && this.writers[0].slot(key) === ABSENT
      if (isNew) inserts.push(step.row)
      else this.#apply(step)
      this.#note(step)
    }
    if (inserts.length > 0) this.writers[0].insert(this.at, ...inserts)
  }

  #apply({ kind, row }: Step): void {
    if (kind === 'insert') {
      this.writers[0].reinsert(this.at, row)
      return
    }
    const home = this.writers.find((it) => {
      const slot = it.slot(row)
      return slot !== ABSENT && it.rowSet.isLive(slot)
    })!
    if (kind === 'delete') home.delete(this.at, row)
    else home.update(this.at, row, true, this.schema)
  }

  /** What a step means, by the rules of the REST contract. */
  #note({ kind, row }: Step): void {
    const { at, model, schema } = this
    if (kind === 'delete') {
      model.put(at, row, null)
      return
    }
    const after: Record<string, PlainCell> = { ...model.at(at, row) }
    for (const { name, isImmutable, writeDefault } of schema.columns) {
      if (kind === 'insert') after[name] = name in row ? row[name] : plainOf(writeDefault)
      else if (name in row && !isImmutable) after[name] = row[name]
    }
    model.put(at, row, after)
  }

  /** What an ALTER does: rows go to a new MemRowSet from now on. */
  swap(): void {
    this.writers[0].rowSet.freeze()
    this.writers.unshift(new MemRowWriter(SECOND_SCHEMA, this.writers.length + 1))
  }

  checkScan(): void {
    const { prng, schema } = this
    const samples = prng.chance(0.3) ? [] : this.#samples()
    const names = prng.chance(0.1)
      ? []
      : pickSome(
          prng,
          schema.columns.map((it) => it.name),
        )
    const snapshot = prng.chance(0.5) ? this.at : prng.between(95, this.at + 5)
    const bounds = [prng.chance(0.6) ? null : this.aKey(), prng.chance(0.6) ? null : this.aKey()]
    const [lowerKey, upperKey] = bounds.map((it) => (it === null ? EMPTY_BYTES : this.#encoded(it)))
    const options: ScanOptions = {
      rowSets: this.writers.map(({ rowSet }) => this.#impatient(rowSet)),
      schema,
      columnIds: names.map((name) => schema.byName(name)!.id),
      predicates: samples.map((it) => it.predicate),
      lowerKey,
      upperKey,
      order: prng.pick(['UNORDERED', 'ORDERED', 'DESCENDING'] as const),
      snapshot,
      withKeys: prng.chance(0.5),
    }
    const expected = this.model.scan(snapshot, (row) => {
      const isAbove = bounds[0] === null || this.model.compareKeys(row, bounds[0]) >= 0
      const isBelow = bounds[1] === null || this.model.compareKeys(row, bounds[1]) < 0
      return (
        isAbove && isBelow && samples.every((it) => it.accepts(cellOf(shown(schema, it.name, row))))
      )
    })
    if (options.order === 'DESCENDING') expected.reverse()
    const found = this.#scan(options)
    expect(found.rows).toEqual(expected.map((row) => pick(schema, names, row)))
    if (options.withKeys) expect(found.keys).toEqual(expected.map((row) => this.#hex(row)))
    expect(inSomeOrder(selectedRows(options, 1e6))).toEqual(inSomeOrder(found.rows))
  }

  #samples(): { name: string; predicate: ColumnPredicate; accepts: Accepts }[] {
    const columns = this.schema.columns.filter(() => this.prng.chance(0.2))
    return columns.map((column) => {
      const domain = (DOMAINS[column.name] ?? (column.name === 'a' ? [-3, 0, 2] : ['', 'a'])).map(
        cellOf,
      )
      return { name: column.name, ...drawPredicate(column, domain as Cell[], this.prng) }
    })
  }

  /** A rowset whose scans look at a few rows at a time. */
  #impatient(rowSet: RowSet): RowSet {
    const scannedMax = this.prng.between(1, 50)
    return {
      id: rowSet.id,
      keyBounds: () => rowSet.keyBounds(),
      mayHaveChanged: (after, upTo) => rowSet.mayHaveChanged(after, upTo),
      lookupRows: (lookup) => rowSet.lookupRows(lookup),
      openIterator: (scan) => {
        const iterator = rowSet.openIterator(scan)
        return {
          get scannedCount() {
            return iterator.scannedCount
          },
          next: (limits) => iterator.next({ ...limits, scannedMax }),
          nextSelection: () => iterator.nextSelection(scannedMax),
          close: () => iterator.close(),
        }
      },
    }
  }

  /** Reads batches of random sizes; now and then writes in between, or goes on in a new scan. */
  #scan(options: ScanOptions): { rows: PlainRow[]; keys: string[] } {
    const { prng, schema } = this
    const rows: PlainRow[] = []
    const keys: string[] = []
    let scanner = openScan(options)
    let written = 0
    for (;;) {
      const batch = scanner.nextBatch(prng.between(1, 20), prng.pick([1, 100, 1e6]))
      if (batch === null) return { rows, keys }
      rows.push(...rowsOf(schema, batch.block))
      for (let i = 0; i < (batch.keys?.count ?? 0); i++) {
        keys.push(Buffer.from(batch.keys!.key(i)).toString('hex'))
      }
      if (options.snapshot < this.at && prng.chance(0.1) && written++ < 3) this.write()
      if (!prng.chance(0.2)) continue
      scanner.close()
      const isDescending = options.order === 'DESCENDING'
      const next = isDescending
        ? { upperKey: batch.lastKeyScanned }
        : { lowerKey: successorKey(batch.lastKeyScanned) }
      // An empty upper bound would be none: nothing lies below the empty key.
      if (isDescending && batch.lastKeyScanned.length === 0) return { rows, keys }
      scanner = openScan({ ...options, ...next })
    }
  }

  checkLookup(): void {
    const { prng, schema } = this
    const wanted = Array.from({ length: prng.between(1, 40) }, () => this.aKey())
    const snapshot = prng.chance(0.5) ? this.at : prng.between(95, this.at + 5)
    const keys = keysOf(schema, blockOf(schema, wanted))
    const found: (PlainRow | null)[] = wanted.map(() => null)
    for (let keyStart = 0; keyStart < wanted.length; ) {
      const { block, keyIndexes, keyEnd } = lookupRows({
        rowSets: this.writers.map((it) => it.rowSet),
        schema,
        columnIds: schema.columns.map((column) => column.id),
        snapshot,
        keys,
        hashes: hashesOf(keys),
        keyStart,
        bytesMax: prng.pick([0, 500, 1e6]),
      })
      rowsOf(schema, block).forEach((row, i) => {
        found[keyIndexes[i]] = row
      })
      keyStart = keyEnd
    }
    const names = schema.columns.map((column) => column.name)
    expect(found).toEqual(
      wanted.map((key) => {
        const row = this.model.at(snapshot, key)
        return row === null ? null : pick(schema, names, row)
      }),
    )
  }

  #encoded(key: PlainRow): Uint8Array {
    return keysOf(this.schema, blockOf(this.schema, [{ a: key.a, b: key.b }])).key(0)
  }

  #hex(row: PlainRow): string {
    return Buffer.from(this.#encoded(row)).toString('hex')
  }
}

function plainOf(cell: Cell | null): PlainCell {
  return cell instanceof Uint8Array ? new TextDecoder().decode(cell) : cell
}

function cellOf(cell: PlainCell): Cell | null {
  return typeof cell === 'string' ? utf8Encode(cell) : cell
}

/** What a row shows in a column: it may be older than the column. */
function shown(schema: Schema, name: string, row: PlainRow): PlainCell {
  return name in row ? row[name] : plainOf(schema.byName(name)!.readDefault)
}

function pick(schema: Schema, names: readonly string[], row: PlainRow): PlainRow {
  return Object.fromEntries(names.map((name) => [name, shown(schema, name, row)]))
}

function pickSome(prng: Prng, names: readonly string[]): string[] {
  const picked = names.filter(() => prng.chance(0.4))
  return prng.chance(0.5) ? picked.reverse() : picked
}

describe('MemRowSet', () => {
  test.each(Array.from({ length: 15 }, (_, i) => 1000 + i))(
    'shows what a map of versions shows, at any time, for any scan and lookup (seed %i)',
    (seed) => {
      const tablet = new RandomTablet(new Prng(seed))
      for (let step = 0; step < 50; step++) {
        tablet.write()
        if (step === 25 && seed % 3 !== 0) tablet.swap()
        if (step % 2 === 0) tablet.checkScan()
        if (step % 5 === 0) tablet.checkLookup()
        if (step % 20 === 0) for (const { rowSet } of tablet.writers) rowSet.checkInvariants()
      }
    },
  )
})
