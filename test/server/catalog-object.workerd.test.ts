import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Catalog } from '../../src/catalog/catalog.ts'
import { failure, mustValue, StatusError } from '../../src/common/status.ts'
import { CatalogObject } from '../../src/server/catalog-object.ts'
import { CATALOG_NAME, catalogStub } from '../../src/server/stubs.ts'
import { TabletObject } from '../../src/server/tablet-object.ts'
import { AssertionError } from '../../src/util/assert.ts'
import type { CatalogStub } from '../../src/wire/catalog-protocol.ts'
import { WIRE_VERSION } from '../../src/wire/tablet-protocol.ts'
import { aStoredTable } from '../support/a-stored-table.ts'
import { aNewTable } from '../support/a-table.ts'

const object = () => env.CATALOG.getByName(CATALOG_NAME)
const catalog = (): CatalogStub => catalogStub(env)

afterEach(() => {
  vi.restoreAllMocks()
})

async function listed(namePrefix: string): Promise<string[]> {
  const call = { wire: WIRE_VERSION, namePrefix, afterName: '', pageSize: 100 }
  return mustValue(await catalog().listTables(call)).tables.map(({ name }) => name)
}

describe('CatalogObject', () => {
  test('makes, finds, lists and drops tables, evicted after each request', async () => {
    const evict = () => evictDurableObject(object())
    const created = await aStoredTable('life', ['id INT64 KEY', 'value STRING NULL'], 4)
    await evict()
    const { id } = created.entry

    const byName = mustValue(await catalog().getTable({ name: 'life' }))
    await evict()
    const byId = mustValue(await catalog().getTable({ id }))
    await evict()
    expect(byName).toEqual({ table: created.entry, initializedTabletIds: [] })
    expect(byId).toEqual(byName)
    expect(await listed('life')).toEqual(['life'])
    await evict()
    expect(await catalog().dropTable({ id }, 1)).toEqual({ ok: true, value: null })
    await evict()
    expect(await catalog().getTable({ id })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(await listed('life')).toEqual([])
  })

  test('sends expected failures as data', async () => {
    await aStoredTable('taken')
    const again = await catalog().createTable({ wire: WIRE_VERSION, ...aNewTable('taken') })

    expect(again).toEqual({
      ok: false,
      code: 'ALREADY_PRESENT',
      message: 'table "taken" already exists',
      details: { resource: 'table' },
    })
  })

  test('refuses messages of a version it does not speak', async () => {
    const call = { wire: WIRE_VERSION + 1, ...aNewTable('spoken') }

    expect(await catalog().createTable(call)).toMatchObject({
      ok: false,
      code: 'SERVICE_UNAVAILABLE',
    })
    expect(await listed('spoken')).toEqual([])
  })

  test('bills two rows for a table, however many tablets it has', async () => {
    const table = aNewTable('billed', undefined, 1000)
    await catalog().ping()
    const written: number[] = []
    await runInDurableObject(object(), (_instance, state) => {
      const exec = state.storage.sql.exec.bind(state.storage.sql)
      vi.spyOn(Object.getPrototypeOf(state.storage.sql), 'exec').mockImplementation(
        (...args: unknown[]) => {
          const [text, ...bindings] = args as [string, ...unknown[]]
          const cursor = exec(text, ...bindings)
          written.push(cursor.rowsWritten)
          return cursor
        },
      )
    })
    mustValue(await catalog().createTable({ wire: WIRE_VERSION, ...table }))

    expect(written.reduce((sum, rows) => sum + rows, 0)).toBe(2)
  })

  test('ends when a decision fails as none may, and keeps nothing of it', async () => {
    const before = await aStoredTable('before')
    vi.spyOn(Catalog.prototype, 'createTable').mockImplementationOnce(() => {
      throw new AssertionError('impossible')
    })
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const error = await catalog()
      .createTable({ wire: WIRE_VERSION, ...aNewTable('never') })
      .catch((reason: unknown) => reason)

    expect(error).toMatchObject({ message: 'internal error in createTable' })
    expect(error).toMatchObject({ durableObjectReset: true })
    expect(mustValue(await catalog().getTable({ name: 'before' })).table).toEqual(before.entry)
    expect(await listed('never')).toEqual([])
  })
})

describe('CatalogObject.dropTable', () => {
  async function aFilledTable(name: string) {
    const table = await aStoredTable(name, undefined, 3)
    for (const index of [0, 1]) await table.write([[1n, 'a']], 'INSERT', null, index)
    return table
  }

  async function tablesOf(stub: ReturnType<typeof env.TABLET.getByName>): Promise<unknown[]> {
    return runInDurableObject(stub, (_instance, state) =>
      state.storage.sql
        .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
        .toArray(),
    )
  }

  test('answers when all initialized tablets refuse, and frees them by alarm', async () => {
    const table = await aFilledTable('drop')
    const { initializedTabletIds } = mustValue(await catalog().getTable({ name: 'drop' }))
    expect([...initializedTabletIds].sort()).toEqual([table.tabletId(0), table.tabletId(1)].sort())

    expect(await catalog().dropTable({ name: 'drop' }, null)).toEqual({ ok: true, value: null })
    for (const index of [0, 1]) {
      expect(await table.tablet(index).read(table.scanCall({}, index))).toMatchObject({
        kind: 'dropped',
      })
      await evictDurableObject(table.object(index))
      expect(await table.write([[2n, 'b']], 'INSERT', null, index)).toMatchObject({
        kind: 'dropped',
      })
    }
    await runDurableObjectAlarm(object())
    for (const index of [0, 1]) expect(await tablesOf(table.object(index))).toEqual([])
    expect(await runDurableObjectAlarm(object())).toBe(false)
  })

  test('leaves tablets that neither hold rows nor take any more', async () => {
    const table = await aFilledTable('empty again')
    await catalog().dropTable({ name: 'empty again' }, null)
    await runDurableObjectAlarm(object())
    for (const index of [0, 1, 2]) {
      expect(await table.write([[2n, 'b']], 'INSERT', null, index)).toMatchObject({
        kind: 'dropped',
      })
      await evictDurableObject(table.object(index))
      expect(await table.tablet(index).read(table.scanCall({}, index))).toMatchObject({
        kind: 'uninitialized',
      })
      expect(await table.write([[2n, 'b']], 'INSERT', null, index)).toMatchObject({
        kind: 'dropped',
      })
      expect(await tablesOf(table.object(index))).toEqual([])
    }
  })

  test('finishes by alarm what an outage left undone, and the alarm may come twice', async () => {
    const table = await aFilledTable('outage')
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const outOfReach = failure(new StatusError('SERVICE_UNAVAILABLE', 'out of reach'))
    vi.spyOn(TabletObject.prototype, 'refuse').mockResolvedValue(outOfReach)
    expect(await catalog().dropTable({ name: 'outage' }, null)).toEqual({ ok: true, value: null })
    await runDurableObjectAlarm(object())
    vi.restoreAllMocks()
    expect(await catalog().getTable({ name: 'outage' })).toMatchObject({ code: 'NOT_FOUND' })

    await evictDurableObject(object())
    expect(await runDurableObjectAlarm(object())).toBe(true)
    await runInDurableObject(object(), (instance) => instance.alarm())
    for (const index of [0, 1]) {
      expect(await tablesOf(table.object(index))).toEqual([])
    }
    expect(await runDurableObjectAlarm(object())).toBe(false)
  })

  test('stops a first write whose table is dropped before the catalog answers it', async () => {
    const table = await aStoredTable('overtaken')
    const { initializeTablet } = CatalogObject.prototype
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const asked = vi
      .spyOn(CatalogObject.prototype, 'initializeTablet')
      .mockImplementation(async function (this: CatalogObject, tableId: string, tabletId: string) {
        const answer = initializeTablet.call(this, tableId, tabletId)
        await released
        return answer
      } as unknown as typeof initializeTablet)
    const writing = table.write([[1n, 'a']])
    await vi.waitFor(() => expect(asked).toHaveBeenCalled())
    await catalog().dropTable({ name: 'overtaken' }, null)
    release()

    expect(await writing).toMatchObject({ kind: 'dropped' })
    expect(await tablesOf(table.object())).toEqual([])
  })

  test('stops a tablet that asks for its table while it is dropped', async () => {
    const table = await aStoredTable('raced')
    const writing = table.write([[1n, 'a']])
    const dropping = catalog().dropTable({ name: 'raced' }, null)
    const [written, dropped] = await Promise.all([writing, dropping])

    expect(dropped).toEqual({ ok: true, value: null })
    expect(['ok', 'dropped']).toContain(written.kind)
    expect(await table.write([[2n, 'b']])).toMatchObject({ kind: 'dropped' })
    await evictDurableObject(table.object())
    expect(await table.write([[3n, 'c']])).toMatchObject({ kind: 'dropped' })
  })
})
