import { describe, expect, onTestFinished, test } from 'vitest'
import type { DevServer } from '../../scripts/dev-server.ts'
import { startDevServer } from '../../scripts/dev-server.ts'

async function aDevServer(): Promise<DevServer> {
  const server = await startDevServer()
  onTestFinished(server.close)
  return server
}

async function isAnswering(address: string): Promise<boolean> {
  return fetch(address).then(
    () => true,
    () => false,
  )
}

describe('npm run dev', () => {
  test('serves with stdin closed and says where', async () => {
    const server = await aDevServer()

    expect(server.output()).toContain(`Docs   ${server.address}/api/docs`)
    expect(await isAnswering(server.address)).toBe(true)
  })

  test('takes wrangler and the runtime down with it when asked to end', async () => {
    const server = await aDevServer()

    expect(await server.stop()).toBe(128 + 15)
    expect(await isAnswering(server.address)).toBe(false)
  })

  test('leaves nothing behind when its process group is killed', async () => {
    const server = await aDevServer()

    await server.kill()

    expect(await isAnswering(server.address)).toBe(false)
  })
})
