import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { AppPorts } from '../../src/api/ports.ts'
import { FrontSurroundings } from '../../src/server/front-surroundings.ts'

/** The ports as the front holds them: in an object of its own. */
function portsOf(): AppPorts {
  const settings = { adminToken: '', isAuthDisabled: true, corsOrigins: [] }
  return { ...new FrontSurroundings(env), settings }
}

describe('FrontSurroundings', () => {
  test('reach the objects', async () => {
    const ports = portsOf()
    const tablet = await ports.tablet('a').offer({
      wire: 1,
      tableId: 'b',
      tabletId: 'a',
      tableVersion: 1,
      clock: ports.clock.now(),
      snapshot: ports.clock.now(),
    })

    expect(await ports.catalog().ping()).toEqual({ ok: true, value: null })
    expect(tablet.kind).toBe('uninitialized')
  })

  test('have time that grows and ids that never come again', async () => {
    const ports = portsOf()
    const before = ports.elapsedMs()
    await ports.sleep(2)

    expect(ports.elapsedMs()).toBeGreaterThan(before)
    expect(ports.clock.next()).toBeLessThan(ports.clock.next())
    expect(ports.randomId()).toMatch(/^[0-9a-f]{32}$/)
    expect(ports.randomId()).not.toBe(ports.randomId())
    expect(portsOf().prng.uint32()).not.toBe(portsOf().prng.uint32())
  })
})
