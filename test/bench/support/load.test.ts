import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import {
  Connection,
  Latencies,
  requestOf,
  sendAll,
  timed,
  withClients,
} from '../../../bench/support/load.ts'

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server that answers each piece it hears with these pieces, one after the other. */
async function serve(...pieces: readonly string[]): Promise<{ address: string; heard: string[] }> {
  const heard: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', async (chunk) => {
      heard.push(chunk.toString())
      for (const piece of pieces) {
        socket.write(piece)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const place = server.address()
  if (place === null || typeof place === 'string') throw new Error('no port was given')
  return { address: `http://127.0.0.1:${place.port}`, heard }
}

async function answerTo(...pieces: readonly string[]): Promise<[number, string]> {
  const { address } = await serve(...pieces)
  const connection = await Connection.open(address)
  const request = requestOf(address, { method: 'GET', path: '/' })
  // The second shows that nothing of the first is left over.
  await connection.send(request)
  const { status, body } = await connection.send(request)
  connection.close()
  return [status, body.toString()]
}

describe('Connection', () => {
  test('reads a body as long as the header says', async () => {
    const answer = await answerTo('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello')

    expect(answer).toEqual([200, 'hello'])
  })

  test('waits for what comes in pieces, wherever they are cut', async () => {
    const text = 'HTTP/1.1 404 Not Found\r\nX: y\r\ncontent-length: 3\r\n\r\nabc'
    const answer = await answerTo(...text)

    expect(answer).toEqual([404, 'abc'])
  })

  test('puts chunks together, wherever they are cut', async () => {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    const answer = await answerTo(head, ...'3\r\nabc\r\nb\r\n0123\r\n89abc\r\n0\r\n\r\n')

    expect(answer).toEqual([200, 'abc0123\r\n89abc'])
  })

  test('knows that no content has no body', async () => {
    expect(await answerTo('HTTP/1.1 204 No Content\r\n\r\n')).toEqual([204, ''])
  })

  test('fails when the server hangs up', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const connection = await Connection.open(`http://127.0.0.1:${port}`)
    const request = requestOf(`http://127.0.0.1:${port}`, { method: 'GET', path: '/' })

    await expect(connection.send(request)).rejects.toThrow()
  })
})

describe('a connection that the server has closed', () => {
  test('fails at the next request', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const address = `http://127.0.0.1:${port}`
    const connection = await Connection.open(address)
    await new Promise((resolve) => setTimeout(resolve, 50))

    const sending = connection.send(requestOf(address, { method: 'GET', path: '/' }))

    await expect(sending).rejects.toThrow('the server closed the connection')
  })
})

describe('requestOf', () => {
  test('writes what goes over the wire, the body as its bytes', async () => {
    const { head, body } = requestOf('http://127.0.0.1:80', {
      method: 'PUT',
      path: '/a',
      body: 'ä',
      headers: { 'If-None-Match': '*' },
    })

    expect(head.toString()).toBe(
      'PUT /a HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
        'Content-Length: 2\r\nIf-None-Match: *\r\n\r\n',
    )
    expect(body).toEqual(Buffer.from('ä'))
  })
})

describe('sendAll', () => {
  test('sends every request once, whatever the number of clients', async () => {
    const { address, heard } = await serve('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    const requests = Array.from({ length: 7 }, (_, i) =>
      requestOf(address, { method: 'GET', path: `/${i}` }),
    )
    const latencies = await sendAll(address, 3, requests, () => {})

    expect(heard.map((text) => text.slice(4, 6)).sort()).toEqual(requests.map((_, i) => `/${i}`))
    expect(latencies.count).toBe(7)
  })
})

describe('timed', () => {
  test('throws at a status that is not expected', async () => {
    const { address } = await serve('HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy')
    const request = requestOf(address, { method: 'GET', path: '/rows' })
    const asking = withClients(address, 1, async (connection) => {
      await timed(connection, request, [200])
    })

    await expect(asking).rejects.toThrow('GET /rows HTTP/1.1: 503 busy')
  })
})

describe('Latencies', () => {
  test('tells the time that a share of all did not exceed', () => {
    const latencies = new Latencies()
    for (let i = 2000; i > 0; i--) latencies.add(i)

    expect([0.0001, 0.5, 0.95, 0.99, 1].map((share) => latencies.percentile(share))).toEqual([
      1, 1000, 1900, 1980, 2000,
    ])
  })
})
