/** The REST interface of one service, as commands use it. */

import { Prng } from '../../src/util/prng.ts'
import { CliError } from '../cli-error.ts'
import type { CliPorts } from '../ports.ts'
import { backoffMs } from './backoff.ts'
import { refusedBy, ServiceError, unheard } from './service-error.ts'
import type { Transport, TransportAnswer } from './transport.ts'

const API = '/api/v1'
const TEXT_DECODER = new TextDecoder()

/** A request below `/api/v1`. */
export interface RestRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: object | readonly Uint8Array[]
}

/** What a service is opened with. */
export interface RestOptions {
  /** As the user wrote it. */
  readonly address: string
  /** Sent with each request, unless it is empty. */
  readonly token: string
  /** For how long a request may be repeated, and a connection be silent. */
  readonly timeoutMs: number
}

/** See the file's header. */
export class RestService {
  readonly timeoutMs: number
  readonly #transport: Transport
  readonly #headers: Readonly<Record<string, string>>
  readonly #ports: CliPorts
  readonly #prng: Prng

  /** Throws: CliError for an address that is none. */
  constructor({ address, token, timeoutMs }: RestOptions, ports: CliPorts) {
    this.timeoutMs = timeoutMs
    this.#transport = ports.openTransport(parseAddress(address), timeoutMs)
    this.#headers = token === '' ? {} : { authorization: `Bearer ${token}` }
    this.#ports = ports
    this.#prng = new Prng(Number.parseInt(ports.randomHex(6), 16))
  }

  /** Sends a request. Returns: its answer, the body unread. Throws: ServiceError unless 2xx. */
  async open(request: RestRequest): Promise<TransportAnswer> {
    const { method, path, headers = {}, body } = request
    const parts = bodyOf(body)
    const type = parts === body ? {} : { 'content-type': 'application/json' }
    let answer: TransportAnswer
    try {
      answer = await this.#transport.send({
        method,
        path: API + path,
        headers: { ...(parts.length === 0 ? {} : type), ...this.#headers, ...headers },
        body: parts,
      })
    } catch (cause) {
      throw unheard(cause)
    }
    if (answer.status >= 200 && answer.status < 300) return answer
    throw refusedBy(answer, await textOf(answer))
  }

  /** Sends a request once. Returns: its answer as JSON. Throws: ServiceError. */
  async ask<T>(request: RestRequest): Promise<T> {
    const text = await textOf(await this.open(request))
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /**
   * Sends what may be sent again, until it succeeds, cannot, or has been tried for `timeoutMs`.
   * `attempt` is called with how often it was before, and what came of it last. Throws:
   * ServiceError.
   */
  async repeat<T>(attempt: (count: number, last: ServiceError | null) => Promise<T>): Promise<T> {
    const deadline = this.#ports.nowMs() + this.timeoutMs
    let last: ServiceError | null = null
    for (let count = 0; ; count++) {
      try {
        return await attempt(count, last)
      } catch (error) {
        if (!(error instanceof ServiceError) || !error.isRetryable) throw error
        const waitMs = backoffMs(count + 1, error.retryAfterMs, this.#prng)
        if (this.#ports.nowMs() + waitMs > deadline) throw error
        last = error
        await this.#ports.sleep(waitMs)
      }
    }
  }

  /** Closes its connections. */
  close(): void {
    this.#transport.close()
  }
}

/** Path of a table. */
export function tablePath(table: string): string {
  return `/tables/${encodeURIComponent(table)}`
}

/** Does some work; a failure of the service becomes one of the command. */
export async function orCliError<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceError) throw new CliError(`${what}: ${error.message}`)
    throw error
  }
}

function parseAddress(address: string): URL {
  const text = address.includes('://') ? address : `http://${address}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new CliError(`"${address}" is not the address of a service, as http://127.0.0.1:8787 is`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new CliError('the address of a service holds no password: use --token or NYALA_TOKEN')
  }
  return url
}

function bodyOf(body: RestRequest['body']): readonly Uint8Array[] {
  if (body === undefined) return []
  if (Array.isArray(body)) return body as readonly Uint8Array[]
  return [new TextEncoder().encode(JSON.stringify(body))]
}

async function textOf(answer: TransportAnswer): Promise<string> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of answer.body) chunks.push(chunk)
  } catch (cause) {
    throw unheard(cause)
  }
  return chunks.length === 1 ? TEXT_DECODER.decode(chunks[0]) : decodeAll(chunks)
}

function decodeAll(chunks: readonly Uint8Array[]): string {
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return TEXT_DECODER.decode(bytes)
}
