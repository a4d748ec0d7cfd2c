/**
 * A load generator that is not what is measured: requests are made beforehand as the bytes that go
 * out, and sent over sockets that stay open, each with one request under way. Of an answer no more
 * is read than where it ends.
 */

import { connect, type Socket } from 'node:net'

/** What came back. */
export interface Answer {
  readonly status: number
  /** Valid until the connection's next request. */
  readonly body: Buffer
}

/** What a request says. */
export interface RequestParts {
  readonly method: string
  readonly path: string
  readonly body?: string | Uint8Array
  /** Of the body: JSON unless something else is said. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request as the bytes that go out. Requests may share the memory of a body. */
export interface Request {
  readonly head: Buffer
  readonly body: Uint8Array | null
}

/** Makes a request to the server at `http://host:port`. */
export function requestOf(address: string, parts: RequestParts): Request {
  const { method, path, contentType = 'application/json', headers = {} } = parts
  const body = typeof parts.body === 'string' ? Buffer.from(parts.body) : (parts.body ?? null)
  let head = `${method} ${path} HTTP/1.1\r\nHost: ${new URL(address).host}\r\n`
  if (body !== null) head += `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`
  return { head: Buffer.from(`${head}\r\n`), body }
}

interface Waiter {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** A socket that stays open, with at most one request under way. */
export class Connection {
  readonly #socket: Socket
  #held: Buffer = Buffer.alloc(0)
  #waiter: Waiter | null = null
  /** Why there will be no more answers. */
  #failure: Error | null = null

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  /** Opens a connection to `http://host:port`. */
  static open(address: string): Promise<Connection> {
    const { hostname, port } = new URL(address)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
    })
  }

  /** Sends a request. Requires: none is under way. */
  send({ head, body }: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) {
        reject(this.#failure)
        return
      }
      this.#waiter = { resolve, reject }
      const socket = this.#socket
      socket.cork()
      socket.write(head)
      if (body !== null) socket.write(body)
      socket.uncork()
    })
  }

  close(): void {
    this.#waiter = null
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    const waiter = this.#waiter
    if (waiter === null) return
    const answer = parseAnswer(this.#held)
    if (answer === null) return
    this.#held = Buffer.alloc(0)
    this.#waiter = null
    waiter.resolve(answer)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    const waiter = this.#waiter
    this.#waiter = null
    waiter?.reject(error)
  }
}

const NO_BODY = Buffer.alloc(0)

/** An answer, or null when it is not all there. Requires: nothing stands behind it. */
function parseAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase()
  const status = Number(head.slice(9, 12))
  if (status === 204 || status === 304) return { status, body: NO_BODY }
  const start = headEnd + 4
  const length = /\r\ncontent-length: *(\d+)/.exec(head)
  if (length === null) return parseChunks(bytes, start, status)
  const end = start + Number(length[1])
  return bytes.length < end ? null : { status, body: bytes.subarray(start, end) }
}

function parseChunks(bytes: Buffer, start: number, status: number): Answer | null {
  const chunks: Buffer[] = []
  let offset = start
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', offset)
    if (lineEnd === -1) return null
    const size = Number.parseInt(bytes.toString('latin1', offset, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (bytes.length < end + 2) return null
    if (size === 0) return { status, body: Buffer.concat(chunks) }
    chunks.push(bytes.subarray(lineEnd + 2, end))
    offset = end + 2
  }
}

/** How long things took, in milliseconds. */
export class Latencies {
  #times = new Float64Array(1024)
  #count = 0

  get count(): number {
    return this.#count
  }

  add(milliseconds: number): void {
    if (this.#count === this.#times.length) {
      const grown = new Float64Array(this.#count * 2)
      grown.set(this.#times)
      this.#times = grown
    }
    this.#times[this.#count++] = milliseconds
  }

  /** The time that a share of all, `(0, 1]`, did not exceed. */
  percentile(share: number): number {
    const sorted = this.#times.slice(0, this.#count).sort()
    return sorted[Math.max(Math.ceil(share * this.#count) - 1, 0)] ?? Number.NaN
  }

  /** `p50 0.31, p95 0.52, p99 0.90 ms`. */
  text(): string {
    const at = (share: number) => this.percentile(share).toFixed(2)
    return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ms`
  }
}

/** Opens connections, lets a client of its own work on each, and closes them when all are done. */
export async function withClients(
  address: string,
  count: number,
  client: (connection: Connection, index: number) => Promise<void>,
): Promise<void> {
  const opening = Array.from({ length: count }, () => Connection.open(address))
  const connections = await Promise.all(opening)
  try {
    await Promise.all(connections.map(client))
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Sends a request, and records its time. Throws when the status is not one of these. */
export async function timed(
  connection: Connection,
  request: Request,
  statuses: readonly number[],
  latencies?: Latencies,
): Promise<Answer> {
  const begun = performance.now()
  const answer = await connection.send(request)
  latencies?.add(performance.now() - begun)
  if (statuses.includes(answer.status)) return answer
  const line = request.head.toString('latin1', 0, request.head.indexOf('\r\n'))
  throw new Error(`${line}: ${answer.status} ${answer.body.toString('utf8', 0, 300)}`)
}

/** Sends requests, each client its own share of them one after the other. */
export async function sendAll(
  address: string,
  clientCount: number,
  requests: readonly Request[],
  check: (answer: Answer) => void,
): Promise<Latencies> {
  const latencies = new Latencies()
  const share = Math.ceil(requests.length / clientCount)
  await withClients(address, clientCount, async (connection, index) => {
    const end = Math.min((index + 1) * share, requests.length)
    for (let i = index * share; i < end; i++) {
      check(await timed(connection, requests[i], [200], latencies))
    }
  })
  return latencies
}
