import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { mustValue } from '../../src/common/status.ts'
import { CatalogObject } from '../../src/server/catalog-object.ts'
import { catalogStub } from '../../src/server/stubs.ts'
import { MemRowSet } from '../../src/tablet/memory/mem-row-set.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { WIRE_VERSION } from '../../src/wire/tablet-protocol.ts'
import {
  aStoredTable,
  mustOk,
  type PlainRow,
  rowsOfFrames,
  type StoredTable,
} from '../support/a-stored-table.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Rows `[start, end)` of a table `id INT64 KEY, value STRING NULL`. */
function rowsFrom(start: number, end: number): PlainRow[] {
  return Array.from({ length: end - start }, (_, index) => {
    const id = start + index
    return [BigInt(id), id % 3 === 0 ? null : `value ${id}`]
  })
}

/** Every table and index in a tablet's storage, and its size in pages. */
function storageOf(table: StoredTable, index = 0): Promise<{ names: unknown[]; pages: number }> {
  return runInDurableObject(table.object(index), (_instance, { storage }) => ({
    names: storage.sql.exec('SELECT name FROM sqlite_master ORDER BY name').toArray(),
    pages: storage.sql.databaseSize / 4096,
  }))
}

describe('TabletObject', () => {
  test('answers the same whether or not it is evicted between any two requests', async () => {
    const plain = await aStoredTable('plain')
    const evicted = await aStoredTable('evicted')
    const observed: unknown[][] = []
    for (const table of [plain, evicted]) {
      const seen: unknown[] = []
      const step = async (request: () => Promise<unknown>) => {
        seen.push(await request())
        if (table === evicted) await evictDurableObject(table.object())
      }
      const write = async (...args: Parameters<StoredTable['write']>) => {
        const { timestamp: _, ...result } = mustOk(await table.write(...args))
        return result
      }
      await step(() =>
        table
          .tablet()
          .read(table.scanCall())
          .then(({ kind }) => kind),
      )
      await step(() => write(rowsFrom(0, 50)))
      await step(() => table.readRows())
      await step(() =>
        write(
          [
            [7n, 'new'],
            [99n, 'none'],
          ],
          'UPDATE',
        ),
      )
      await step(() => write([[8n], [9n]], 'DELETE'))
      await step(() =>
        write(
          [
            [8n, 'again'],
            [100n, 'other'],
          ],
          'UPSERT',
        ),
      )
      await step(() => write(rowsFrom(0, 10)))
      await step(() => table.scanRows())
      await step(() => table.lookupRows([[7n], [200n], [8n], [7n]]))
      await step(() => table.counters().then(({ liveRowCount }) => liveRowCount))
      observed.push(seen)
    }

    expect(observed[1]).toEqual(observed[0])
    expect(observed[0][2]).toEqual(rowsFrom(0, 50))
    expect(observed[0][8]).toEqual([[7n, 'new'], null, [8n, 'again'], [7n, 'new']])
    expect(observed[0][9]).toBe(51)
  })

  test('keeps a snapshot as it was, over an eviction', async () => {
    const table = await aStoredTable('snapshots')
    const first = mustOk(await table.write(rowsFrom(0, 5)))
    const second = mustOk(await table.write([[1n, 'changed']], 'UPDATE'))
    const before = first.timestamp as number
    expect(second.timestamp).toBeGreaterThan(before)
    const scan = () => table.readRows({ snapshot: before })

    expect(await scan()).toEqual(rowsFrom(0, 5))
    await evictDurableObject(table.object())
    expect(await scan()).toEqual(rowsFrom(0, 5))
    expect((await table.readRows({ snapshot: second.timestamp }))[1]).toEqual([1n, 'changed'])
  })

  test('gives a repeated share its first result, over an eviction', async () => {
    const table = await aStoredTable('repeated')
    const key = { key: 'k', share: 0, digest: 'd', isInternal: false }
    const first = mustOk(await table.write(rowsFrom(0, 3), 'INSERT', key))
    await evictDurableObject(table.object())
    const again = mustOk(await table.write(rowsFrom(0, 3), 'INSERT', key))

    expect(again).toEqual({ ...first, isReplayed: true })
  })

  test('is initialized once when many first writes come at once', async () => {
    const table = await aStoredTable('rush')
    const asked = vi.spyOn(CatalogObject.prototype, 'initializeTablet')
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => table.write([[BigInt(index), null]])),
    )

    expect(answers.map((answer) => mustOk(answer).inserted)).toEqual(Array(20).fill(1))
    expect(asked).toHaveBeenCalledTimes(1)
    expect(await table.readRows()).toHaveLength(20)
    const known = mustValue(await catalogStub(env).getTable({ name: 'rush' }))
    expect(known.initializedTabletIds).toEqual([table.tabletId()])
  })

  test('answers a first write although the catalog failed the one before', async () => {
    const table = await aStoredTable('unlucky')
    vi.spyOn(CatalogObject.prototype, 'initializeTablet').mockReturnValueOnce({
      ok: false,
      code: 'CORRUPTION',
      message: 'block 3',
      details: {},
    })

    expect(await table.write(rowsFrom(0, 1))).toMatchObject({ kind: 'error', code: 'CORRUPTION' })
    expect((await storageOf(table)).names).toEqual([])
    expect(await table.write(rowsFrom(0, 1))).toMatchObject({ kind: 'ok' })
  })

  test('creates nothing and bills nothing when a tablet without rows is read', async () => {
    const table = await aStoredTable('never written')
    const snapshot = Date.now() * 1000
    const calls = [
      () => table.tablet().read(table.scanCall()),
      () => table.tablet().read(table.scanCall({ snapshot })),
      () => table.tablet().scan(table.scanCall()),
      () => table.tablet().offer({ ...table.call(), snapshot }),
      () =>
        table.tablet().lookup({
          ...table.call(),
          columnIds: [0],
          keyBytes: new Uint8Array(8),
          keyEnds: Uint32Array.of(8),
          snapshot: null,
        }),
    ]
    for (const call of calls) {
      const answer = await call()
      expect(answer).toEqual({ kind: 'uninitialized', clock: expect.any(Number) })
    }

    expect(await table.counters()).toEqual({
      rowsRead: 0,
      rowsWritten: 0,
      liveRowCount: 0,
      memoryBytes: 0,
      walBytes: 0,
      onDiskBytes: 0,
      rowSetCount: 0,
    })
    expect(await storageOf(table)).toEqual({ names: [], pages: 1 })
    const known = mustValue(await catalogStub(env).getTable({ name: 'never written' }))
    expect(known.initializedTabletIds).toEqual([])
  })

  test('bills one row for a write of a thousand rows', async () => {
    const table = await aStoredTable('thousand')
    await table.write(rowsFrom(0, 1))
    await evictDurableObject(table.object())
    const before = await table.counters()
    expect(mustOk(await table.write(rowsFrom(1, 1001))).inserted).toBe(1000)
    const after = await table.counters()

    expect(after.rowsWritten - before.rowsWritten).toBe(1)
    expect(after.liveRowCount).toBe(1001)
    expect(after.walBytes).toBeGreaterThan(before.walBytes)
  })

  test('sends what is wrong with a call as data', async () => {
    const table = await aStoredTable('wrong')
    await table.write(rowsFrom(0, 1))
    const other = 'f'.repeat(32)
    const block = table.block(rowsFrom(1, 2))
    const errorOf = async (part: object) =>
      table.tablet().write({ ...table.call(), block, resultKey: null, ...part })

    expect(await errorOf({ block: block.slice(0, 40) })).toMatchObject({ kind: 'error' })
    expect(await errorOf({ tabletId: other })).toMatchObject({
      kind: 'error',
      code: 'INVALID_ARGUMENT',
      message: 'call is for another tablet',
    })
    expect(await errorOf({ tableId: other })).toMatchObject({
      kind: 'error',
      code: 'INVALID_ARGUMENT',
    })
    expect(await errorOf({ wire: WIRE_VERSION + 1 })).toMatchObject({
      kind: 'error',
      code: 'SERVICE_UNAVAILABLE',
    })
    expect(await errorOf({ clock: Date.now() * 1000 + 3_600_000_000 })).toMatchObject({
      kind: 'error',
      code: 'INVALID_ARGUMENT',
    })
    expect(await errorOf({ tableVersion: 2 })).toMatchObject({ kind: 'stale', tableVersion: 1 })
    expect(await table.readRows()).toEqual(rowsFrom(0, 1))
  })

  test('makes no tablet of a table that is not there', async () => {
    const table = await aStoredTable('there')
    const nobody = { ...table.call(), tableId: 'e'.repeat(32) }
    const block = table.block(rowsFrom(0, 1))

    expect(await table.tablet().write({ ...nobody, block, resultKey: null })).toMatchObject({
      kind: 'dropped',
    })
    expect((await storageOf(table)).names).toEqual([])
  })

  test('ends when a section fails as none may, and keeps nothing of it', async () => {
    const table = await aStoredTable('assertion')
    await table.write(rowsFrom(0, 3))
    vi.spyOn(MemRowSet.prototype, 'insertRows').mockImplementationOnce(() => {
      throw new AssertionError('impossible')
    })
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const error = await table.write(rowsFrom(3, 6)).catch((reason: unknown) => reason)

    expect(error).toMatchObject({ message: 'internal error in write', durableObjectReset: true })
    expect(logged.mock.calls.flat().map(String).join()).toContain('AssertionError: impossible')
    expect(await table.readRows()).toEqual(rowsFrom(0, 3))
    expect(mustOk(await table.write(rowsFrom(3, 6))).inserted).toBe(3)
    await evictDurableObject(table.object())
    expect(await table.readRows()).toEqual(rowsFrom(0, 6))
  })

  test('undoes a first write that fails as none may, with all of its initialization', async () => {
    const table = await aStoredTable('first assertion')
    vi.spyOn(MemRowSet.prototype, 'insertRows').mockImplementationOnce(() => {
      throw new AssertionError('impossible')
    })
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await table.write(rowsFrom(0, 3)).catch(() => undefined)

    expect((await storageOf(table)).names).toEqual([])
    expect(mustOk(await table.write(rowsFrom(0, 3))).inserted).toBe(3)
  })

  test('names damaged storage instead of guessing, as often as it is asked', async () => {
    const table = await aStoredTable('damaged')
    await table.write(rowsFrom(0, 3))
    await runInDurableObject(table.object(), (_instance, { storage }) => {
      const [payload] = storage.sql
        .exec<{ payload: ArrayBuffer }>('SELECT payload FROM superblock')
        .toArray()
      const bytes = new Uint8Array(payload.payload)
      bytes[bytes.length - 1] ^= 1
      storage.sql.exec('UPDATE superblock SET payload = ?', bytes)
    })
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    await evictDurableObject(table.object())

    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await table.write(rowsFrom(3, 4))).toMatchObject({
        kind: 'error',
        code: 'CORRUPTION',
        message: expect.stringContaining('superblock'),
      })
    }
  })
})

describe('TabletObject.offer', () => {
  test('keeps later writes above a snapshot far ahead, over an eviction', async () => {
    const table = await aStoredTable('far ahead')
    const snapshot = Date.now() * 1000 + 10_000_000
    const offer = () => table.tablet().offer({ ...table.call(), snapshot })
    expect(mustOk(await offer())).toEqual({ lastApplied: 0 })
    await evictDurableObject(table.object())
    const { timestamp } = mustOk(await table.write(rowsFrom(0, 1)))

    expect(timestamp).toBeGreaterThan(snapshot)
    expect(mustOk(await offer()).lastApplied).toBe(timestamp)
    expect(await table.readRows({ snapshot })).toEqual([])
  })

  test('tells the newest op, and writes nothing for a snapshot that is near', async () => {
    const table = await aStoredTable('near')
    const { timestamp } = mustOk(await table.write(rowsFrom(0, 1)))
    const { rowsWritten } = await table.counters()
    const snapshot = timestamp as number

    expect(mustOk(await table.tablet().offer({ ...table.call(), snapshot }))).toEqual({
      lastApplied: timestamp,
    })
    expect((await table.counters()).rowsWritten).toBe(rowsWritten)
    expect(mustOk(await table.write(rowsFrom(1, 2))).timestamp).toBeGreaterThan(snapshot)
  })
})

describe('TabletObject.read', () => {
  test('goes on behind the last key until there is no more', async () => {
    const table = await aStoredTable('pages')
    await table.write(rowsFrom(0, 100))
    const rows: PlainRow[] = []
    let lowerKey = new Uint8Array(0)
    let pages = 0
    for (let hasMore = true; hasMore; pages++) {
      const call = table.scanCall({ lowerKey, rowCountMax: 30 })
      const answer = mustOk(await table.tablet().read(call))
      rows.push(...rowsOfFrames(table.schema, answer.frames))
      hasMore = answer.hasMore
      lowerKey = Uint8Array.of(...answer.lastKey, 0)
      await evictDurableObject(table.object())
    }

    expect(rows).toEqual(rowsFrom(0, 100))
    expect(pages).toBe(4)
  })

  test('ends a page soon after it is full of bytes', async () => {
    const table = await aStoredTable('full')
    const large = 'x'.repeat(60_000)
    await table.write(rowsFrom(0, 30).map(([id]) => [id, large]))
    const call = table.scanCall({ bytesMax: 200_000 })
    const answer = mustOk(await table.tablet().read(call))

    expect(answer.hasMore).toBe(true)
    expect(rowsOfFrames(table.schema, answer.frames).length).toBeLessThan(6)
    expect(answer.frames.length).toBeLessThan(300_000)
  })
})
