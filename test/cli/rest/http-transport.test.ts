import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { openHttpTransport } from '../../../cli/rest/http-transport.ts'
import type { Transport, TransportAnswer } from '../../../cli/rest/transport.ts'

const BYTES = new TextEncoder()
let server: Server | undefined
let transport: Transport | undefined

afterEach(() => {
  transport?.close()
  server?.closeAllConnections()
  server?.close()
})

async function open(listener: RequestListener, base = '', idleMs = 10_000): Promise<Transport> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  transport = openHttpTransport(new URL(`http://127.0.0.1:${port}${base}`), idleMs)
  return transport
}

async function textOf({ body }: TransportAnswer): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Answers with what was asked, after the whole of it was read. */
const echo: RequestListener = async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method, url, headers } = request
  const body = Buffer.concat(chunks).toString()
  response.setHeader('X-Port', String(request.socket.remotePort))
  response.statusCode = 201
  response.end(
    JSON.stringify({ method, url, body, length: headers['content-length'], a: headers.a }),
  )
}

describe('openHttpTransport', () => {
  test('sends the parts of a body as one', async () => {
    const { send } = await open(echo, '/base/')
    const body = [BYTES.encode('one '), BYTES.encode('two')]
    const answer = await send({ method: 'POST', path: '/x?y=z', headers: { a: 'b' }, body })

    expect(answer.status).toBe(201)
    expect(JSON.parse(await textOf(answer))).toEqual({
      method: 'POST',
      url: '/base/x?y=z',
      body: 'one two',
      length: '7',
      a: 'b',
    })
  })

  test('keeps a connection for the next request', async () => {
    const { send } = await open(echo)
    const ports: (string | undefined)[] = []
    for (let i = 0; i < 3; i++) {
      const answer = await send({ method: 'GET', path: '/', headers: {}, body: [] })
      ports.push(answer.header('x-port'))
      await textOf(answer)
    }

    expect(ports[0]).toBeDefined()
    expect(new Set(ports).size).toBe(1)
  })

  test('rejects when the connection breaks before the answer', async () => {
    const { send } = await open((request) => request.socket.destroy())

    await expect(send({ method: 'GET', path: '/', headers: {}, body: [] })).rejects.toThrow()
  })

  test('fails while reading an answer that breaks off', async () => {
    const { send } = await open((request, response) => {
      response.write('half')
      setImmediate(() => request.socket.destroy())
    })
    const answer = await send({ method: 'GET', path: '/', headers: {}, body: [] })

    await expect(textOf(answer)).rejects.toThrow()
  })

  test('rejects when nothing is heard for too long', async () => {
    const { send } = await open(() => undefined, '', 20)

    await expect(send({ method: 'GET', path: '/', headers: {}, body: [] })).rejects.toThrow(
      'nothing was heard for 20 ms',
    )
  })
})
