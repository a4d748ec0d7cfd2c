import { describe, expect, test } from 'vitest'
import type { ColumnPredicate } from '../../../src/common/column-predicate.ts'
import type { Cell } from '../../../src/common/data-type.ts'
import { successorKey } from '../../../src/common/encoded-key.ts'
import type { Schema } from '../../../src/common/schema.ts'
import type { DiskRowSet } from '../../../src/tablet/disk/disk-row-set.ts'
import { RowSetTree } from '../../../src/tablet/disk/row-set-tree.ts'
import { lookupRows } from '../../../src/tablet/scan/key-lookup.ts'
import { openScan, type ScanOptions } from '../../../src/tablet/scan/tablet-scanner.ts'
import { EMPTY_BYTES, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import type { PlainCell, PlainRow } from '../../support/a-write-block.ts'
import {
  aDiskRowSet,
  aMemoryContext,
  type MemoryContext,
  type PlainVersion,
  toCell,
} from '../../support/disk-row-set-builder.ts'
import { type Accepts, drawPredicate } from '../../support/draw-predicate.ts'
import { MemRowWriter } from '../../support/mem-row-writer.ts'
import {
  blockOf,
  hashesOf,
  KEY_HASH_SEED,
  keysOf,
  rowsOf,
  schemaWith,
} from '../../support/row-data.ts'
import { RowModel } from '../../support/row-model.ts'
import { inSomeOrder, selectedRows } from '../../support/selected-rows.ts'

const VALUE_COLUMNS = [
  'flag BOOL NULL',
  'tiny INT8',
  'small INT16 NULL',
  'day DATE NULL',
  'long INT64 NULL',
  'real FLOAT NULL',
  'double DOUBLE NULL',
  'money DECIMAL(30,2) NULL',
  'text STRING NULL',
] as const
const FIRST_SCHEMA = schemaWith('a INT32 KEY', 'b STRING KEY', ...VALUE_COLUMNS)
/** From this time on rows have one more column, which those before show with its read default. */
const ALTERED_AT = 500
const SECOND_SCHEMA = schemaWith('a INT32 KEY', 'b STRING KEY', ...VALUE_COLUMNS, [
  'added STRING NULL',
  { readDefault: utf8Encode('old') },
])
const LAST_AT = 1000

/** Few values of each column, so that predicates and rows meet; texts that fill pages. */
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
    'a text longer than forty-eight bytes, so that it is copied whole',
  ],
  added: ['old', 'new', ''],
}

interface Event {
  readonly at: number
  readonly key: PlainRow
  readonly row: PlainRow | null
}

/** A rowset in the making. */
interface Store {
  readonly baseAt: number
  readonly histories: PlainVersion[][]
}

/**
 * Rows with random histories, whose lives are spread over DiskRowSets and a MemRowSet, and a model
 * that says what they must show.
 */
class RandomTablet {
  readonly prng: Prng
  readonly model = new RowModel(['a', 'b'])
  readonly context: MemoryContext
  readonly rowSets: DiskRowSet[]
  readonly memory = new MemRowWriter(SECOND_SCHEMA, 100)
  readonly hasLongTexts: boolean

  constructor(prng: Prng) {
    this.prng = prng
    this.context = aMemoryContext(prng.pick([0, 20_000, 8 * 1024 * 1024]))
    this.hasLongTexts = prng.chance(0.6)
    const stores = Array.from({ length: prng.between(1, 4) }, (): Store => {
      return { baseAt: prng.between(0, LAST_AT), histories: [] }
    })
    const late: Event[] = []
    for (const key of this.#keys()) this.#live(key, [...stores], late)
    late.sort((a, b) => a.at - b.at)
    for (const event of late) this.#write(event)
    this.rowSets = stores.flatMap(({ baseAt, histories }, i) => {
      if (histories.length === 0) return []
      const cuts = () => [prng.between(0, LAST_AT), prng.between(0, LAST_AT)].sort((a, b) => a - b)
      const isOld = baseAt < ALTERED_AT && histories.every(([{ at }]) => at < ALTERED_AT)
      return aDiskRowSet(histories, {
        id: i + 1,
        schema: isOld ? FIRST_SCHEMA : SECOND_SCHEMA,
        youngerSchema: SECOND_SCHEMA,
        baseAt,
        undoCuts: prng.chance(0.5) ? cuts() : [],
        redoCuts: prng.chance(0.7) ? cuts() : [],
        memCuts: prng.chance(0.5) ? cuts() : [],
        context: this.context,
      })
    })
  }

  #keys(): PlainRow[] {
    const { prng } = this
    const from = prng.between(-20, 20)
    const all = Array.from({ length: prng.between(1, prng.pick([10, 150])) }, () => ({
      a: prng.between(from, from + 40),
      b: prng.pick(['', '\0', 'a', 'a\0', 'ab', 'long key '.repeat(9)]),
    }))
    return all.filter((key, i) => {
      return i === all.findIndex(({ a, b }) => a === key.a && b === key.b)
    })
  }

  /** Draws what becomes of a key. Each life is in a store that can hold it. */
  #live(key: PlainRow, stores: Store[], late: Event[]): void {
    const { prng } = this
    let row: PlainRow | null = null
    let store: Store | undefined = stores.splice(prng.below(stores.length), 1)[0]
    let history: PlainVersion[] = []
    store.histories.push(history)
    let at = prng.between(1, 400)
    for (let left = prng.between(1, 7); left > 0 && at <= LAST_AT; left--) {
      const isBorn: boolean = row === null
      if (isBorn && history.length > 0 && (at > store!.baseAt || prng.chance(0.3))) {
        store = stores.length === 0 ? undefined : stores.splice(prng.below(stores.length), 1)[0]
        history = []
        store?.histories.push(history)
      }
      row = !isBorn && prng.chance(0.3) ? null : this.#rowAt(at, key, row)
      this.model.put(at, key, row)
      if (store === undefined) late.push({ at, key, row })
      else history.push({ at, row })
      at += prng.pick([1, 20, 200])
    }
  }

  #rowAt(at: number, key: PlainRow, former: PlainRow | null): PlainRow {
    const { prng } = this
    const row: Record<string, PlainCell> = { ...key, ...former }
    for (const { name, isKey, isNullable } of SECOND_SCHEMA.columns) {
      if (isKey || (name === 'added' && at < ALTERED_AT)) continue
      const isNew = !(name in row)
      if (isNew && name === 'added' && former !== null && prng.chance(0.5)) continue
      if (!isNew && prng.chance(0.7)) continue
      row[name] = isNullable && prng.chance(0.2) ? null : prng.pick(DOMAINS[name])
      if (name === 'text' && this.hasLongTexts && prng.chance(0.4)) {
        row[name] = prng.pick(['x', 'y']).repeat(prng.between(4000, 9000))
      }
    }
    return row
  }

  #write({ at, key, row }: Event): void {
    const { memory } = this
    const slot = memory.slot(key)
    // Rows from before the ALTER show the read default of its column.
    const full = row === null ? null : { added: 'old', ...row }
    if (full === null) memory.delete(at, key)
    else if (slot === -1) memory.insert(at, full)
    else if (memory.rowSet.isLive(slot)) memory.update(at, full)
    else memory.reinsert(at, full)
  }

  checkScan(): void {
    const { prng } = this
    const schema = prng.chance(0.8) ? SECOND_SCHEMA : FIRST_SCHEMA
    const samples = prng.chance(0.3) ? [] : this.#samples(schema)
    const snapshot = prng.pick([prng.between(0, LAST_AT), prng.between(0, LAST_AT), LAST_AT + 10])
    const bounds = [this.#aBound(), this.#aBound()]
    const names = schema.columns.map(({ name }) => name).filter(() => prng.chance(0.4))
    if (prng.chance(0.5)) names.reverse()
    const options: ScanOptions = {
      rowSets: this.#shuffled(),
      schema,
      columnIds: names.map((name) => schema.byName(name)!.id),
      predicates: samples.map(({ predicate }) => predicate),
      lowerKey: bounds[0] === null ? EMPTY_BYTES : encoded(bounds[0]),
      upperKey: bounds[1] === null ? EMPTY_BYTES : encoded(bounds[1]),
      order: prng.pick(['UNORDERED', 'ORDERED', 'DESCENDING'] as const),
      snapshot,
      withKeys: prng.chance(0.5),
    }
    const expected = this.model.scan(snapshot, (row) => {
      const isAbove = bounds[0] === null || this.model.compareKeys(row, bounds[0]) >= 0
      const isBelow = bounds[1] === null || this.model.compareKeys(row, bounds[1]) < 0
      const passes = samples.every((it) => it.accepts(shown(schema, it.name, row)))
      return isAbove && isBelow && passes
    })
    if (options.order === 'DESCENDING') expected.reverse()
    const found = this.#scan(options)
    expect(found.rows).toEqual(expected.map((row) => pick(schema, names, row)))
    if (options.withKeys) expect(found.keys).toEqual(expected.map((row) => hexOf(encoded(row))))
    this.#checkStats(options, expected.length)
    const borrowedRowsMin = prng.pick([undefined, 1])
    const selected = selectedRows(options, prng.pick([1, 30, 1e6]), borrowedRowsMin)
    expect(inSomeOrder(selected)).toEqual(inSomeOrder(found.rows))
    expect(this.context.pins.fileCount).toBe(0)
  }

  /** Every rowset and every page of a scan that came to its end is accounted for. */
  #checkStats(options: ScanOptions, rowCount: number): void {
    const scanner = openScan({ ...options, keyHashSeed: KEY_HASH_SEED })
    while (scanner.nextBatch(this.prng.between(1, 5000), 1e6) !== null);
    const { stats } = scanner
    expect([stats.rowsReturned, stats.rowsScanned]).toEqual([rowCount, scanner.scannedCount])
    expect(stats.rowSetsTotal).toBe(options.rowSets.length)
    const isImpossible = options.predicates.some(({ kind }) => kind === 'NONE')
    const skipped = Object.values(stats.rowSetsSkipped).reduce((a, b) => a + b)
    if (!isImpossible) expect(stats.rowSetsRead + skipped).toBe(stats.rowSetsTotal)
    for (const { pages, pagesRead, pagesFromCache, pagesSkipped } of stats.columns) {
      const passed = Object.values(pagesSkipped)
      expect(Math.min(...passed)).toBeGreaterThanOrEqual(0)
      expect(pagesRead + passed.reduce((a, b) => a + b)).toBe(pages)
      expect(pagesFromCache).toBeLessThanOrEqual(pagesRead)
    }
  }

  #aBound(): PlainRow | null {
    const { prng } = this
    return prng.chance(0.6) ? null : { a: prng.between(-20, 60), b: prng.pick(['', 'a', 'm']) }
  }

  #shuffled() {
    const all = [this.memory.rowSet, ...this.rowSets]
    return all.sort(() => this.prng.below(3) - 1)
  }

  #samples(schema: Schema): { name: string; predicate: ColumnPredicate; accepts: Accepts }[] {
    const columns = schema.columns.filter(() => this.prng.chance(0.15))
    return columns.map((column) => {
      const plain = DOMAINS[column.name] ?? (column.name === 'a' ? [-3, 0, 2, 20] : ['', 'a'])
      const domain = plain.map((cell) => toCell(column, cell) as Cell)
      return { name: column.name, ...drawPredicate(column, domain, this.prng) }
    })
  }

  /** Reads batches of random sizes; now and then goes on in a new scan. */
  #scan(options: ScanOptions): { rows: PlainRow[]; keys: string[] } {
    const { prng } = this
    const rows: PlainRow[] = []
    const keys: string[] = []
    const [rowCountMax, bytesMax] = prng.pick([
      [20, 1e6],
      [5000, 100],
      [5000, 20_000],
      [5000, 1e6],
    ])
    const open = (asked: ScanOptions) => openScan(asked, prng.pick([undefined, 1]))
    let scanner = open(options)
    for (;;) {
      const batch = scanner.nextBatch(prng.between(1, rowCountMax), bytesMax)
      if (batch === null) break
      rows.push(...rowsOf(options.schema, batch.block))
      for (let i = 0; i < (batch.keys?.count ?? 0); i++) keys.push(hexOf(batch.keys!.key(i)))
      if (!prng.chance(0.1)) continue
      const last = batch.lastKeyScanned
      scanner.close()
      const isDescending = options.order === 'DESCENDING'
      scanner = open({
        ...options,
        ...(isDescending ? { upperKey: last } : { lowerKey: successorKey(last) }),
      })
    }
    expect(this.context.pins.fileCount).toBe(0)
    return { rows, keys }
  }

  checkLookup(): void {
    const { prng } = this
    const schema = SECOND_SCHEMA
    const known = this.model.scan(prng.between(0, LAST_AT), () => true)
    const wanted = Array.from({ length: prng.between(1, 60) }, (): PlainRow => {
      const { a, b } = known.length === 0 || prng.chance(0.3) ? { a: 1, b: 'a' } : prng.pick(known)
      return { a, b }
    })
    const snapshot = prng.between(0, LAST_AT + 10)
    const keys = keysOf(schema, blockOf(schema, wanted))
    const found: (PlainRow | null)[] = wanted.map(() => null)
    const names = schema.columns.map(({ name }) => name).filter(() => prng.chance(0.7))
    for (let keyStart = 0; keyStart < wanted.length; ) {
      const { block, keyIndexes, keyEnd } = lookupRows({
        rowSets: [this.memory.rowSet],
        tree: new RowSetTree(this.rowSets),
        schema,
        columnIds: names.map((name) => schema.byName(name)!.id),
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
    expect(found).toEqual(
      wanted.map((key) => {
        const row = this.model.at(snapshot, key)
        return row === null ? null : pick(schema, names, row)
      }),
    )
  }

  /** Whether rows are there now, and just before any time. */
  checkLiveness(): void {
    for (const rowSet of this.rowSets) {
      rowSet.checkInvariants(KEY_HASH_SEED)
      const rows = Array.from({ length: rowSet.rowCount }, (_, row) => row)
      expect(rows.filter((row) => rowSet.isLive(row)).length).toBe(rowSet.liveRowCount)
    }
    const at = this.prng.between(1, LAST_AT)
    const present = this.model.scan(at - 1, () => true)
    let count = this.#countInMemory(at - 1)
    for (const rowSet of this.rowSets) {
      for (let row = 0; row < rowSet.rowCount; row++) {
        if (rowSet.wasLiveBefore(row, at)) count++
      }
    }
    expect(count).toBe(present.length)
  }

  #countInMemory(snapshot: number): number {
    const { rowSet } = this.memory
    const scanner = openScan({
      rowSets: [rowSet],
      schema: SECOND_SCHEMA,
      columnIds: [],
      predicates: [],
      lowerKey: EMPTY_BYTES,
      upperKey: EMPTY_BYTES,
      order: 'ORDERED',
      snapshot,
      withKeys: false,
    })
    let count = 0
    for (let batch = scanner.nextBatch(10, 10); batch !== null; batch = scanner.nextBatch(10, 10)) {
      count += batch.block.rowCount
    }
    return count
  }
}

function encoded(key: PlainRow): Uint8Array {
  return keysOf(FIRST_SCHEMA, blockOf(FIRST_SCHEMA, [{ a: key.a, b: key.b }])).key(0)
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** What a row shows in a column: it may be older than the column. */
function shown(schema: Schema, name: string, row: PlainRow): Cell | null {
  const column = schema.byName(name)!
  return name in row ? toCell(column, row[name]) : column.readDefault
}

function pick(schema: Schema, names: readonly string[], row: PlainRow): PlainRow {
  return Object.fromEntries(
    names.map((name) => {
      const cell = shown(schema, name, row)
      return [name, cell instanceof Uint8Array ? new TextDecoder().decode(cell) : cell]
    }),
  )
}

describe('DiskRowSet', () => {
  test.each(Array.from({ length: 16 }, (_, i) => 1000 + i))(
    'shows what a map of versions shows, at any time, for any scan and lookup (seed %i)',
    (seed) => {
      const tablet = new RandomTablet(new Prng(seed))
      tablet.checkLiveness()
      for (let step = 0; step < 25; step++) tablet.checkScan()
      for (let step = 0; step < 6; step++) tablet.checkLookup()
      tablet.checkLiveness()
    },
  )
})
