import { describe, expect, test } from 'vitest'
import { TABLE_CACHE_COUNT_MAX, TABLE_CACHE_MS } from '../../src/common/limits.ts'
import { TableCache, tableRefOf } from '../../src/router/table-cache.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'

function aCache(): { service: LocalService; cache: TableCache } {
  const service = new LocalService({ seed: 3 })
  service.createTable(aNewTable('t'))
  return { service, cache: new TableCache(service.front()) }
}

const REF = { name: 't' }

describe('tableRefOf', () => {
  test('takes 32 hexadecimal digits of either case for an id, all else for a name', () => {
    const id = '0123456789abcdefABCDEF0123456789'

    expect(tableRefOf(id)).toEqual({ id: id.toLowerCase() })
    expect(tableRefOf(id.slice(1))).toEqual({ name: id.slice(1) })
    expect(tableRefOf(`${id}0`)).toEqual({ name: `${id}0` })
  })
})

describe('TableCache', () => {
  test('asks the catalog once, and says when it did', async () => {
    const { service, cache } = aCache()
    const first = await cache.open(REF)
    const second = await cache.open(REF)

    expect(first.isConfirmed).toBe(true)
    expect(second).toEqual({ table: first.table, isConfirmed: false })
    expect(service.getTableCount).toBe(1)
  })

  test('asks anew when what it knows has grown old', async () => {
    const { service, cache } = aCache()
    await cache.open(REF)
    service.time.micros += TABLE_CACHE_MS * 1000

    expect((await cache.open(REF)).isConfirmed).toBe(true)
    expect(service.getTableCount).toBe(2)
  })

  test('lets one request ask anew, and the others go on with what it knows', async () => {
    const { service, cache } = aCache()
    await cache.open(REF)
    service.time.micros += TABLE_CACHE_MS * 1000
    const known = await Promise.all([1, 2, 3, 4].map(() => cache.open(REF)))

    expect(known.map((it) => it.isConfirmed)).toEqual([true, false, false, false])
    expect(service.getTableCount).toBe(2)
  })

  test('never waits for the call of another request', async () => {
    const { service, cache } = aCache()
    const { getTable } = service.catalogStub
    let calls = 0
    service.catalogStub.getTable = (ref) => {
      calls++
      return calls === 1 ? new Promise(() => undefined) : getTable(ref)
    }
    const stuck = cache.open(REF)
    stuck.catch(() => undefined)

    expect((await cache.open(REF)).table.entry.name).toBe('t')
  })

  test('forgets a table that the catalog does not know', async () => {
    const { service, cache } = aCache()
    await cache.open(REF)
    service.dropTable('t')

    await expect(cache.refresh(REF)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(cache.open(REF)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('forgets what it is told to', async () => {
    const { service, cache } = aCache()
    await cache.open(REF)
    cache.forget(REF)
    await cache.open(REF)

    expect(service.getTableCount).toBe(2)
  })

  test('keeps a bounded number of tables, the latest ones', async () => {
    const { service, cache } = aCache()
    for (let i = 0; i <= TABLE_CACHE_COUNT_MAX; i++) {
      service.createTable(aNewTable(`t${i}`))
      await cache.open({ name: `t${i}` })
    }
    const before = service.getTableCount
    await cache.open({ name: `t${TABLE_CACHE_COUNT_MAX}` })
    expect(service.getTableCount).toBe(before)
    await cache.open({ name: 't0' })
    expect(service.getTableCount).toBe(before + 1)
  })
})
