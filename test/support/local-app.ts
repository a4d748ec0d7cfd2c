/** The whole front over the objects of one process: requests in, responses out. */

import { createApp } from '../../src/api/app.ts'
import type { App } from '../../src/api/app-env.ts'
import type { AppSettings, LogFields } from '../../src/api/ports.ts'
import type { NewTable } from '../../src/catalog/catalog.ts'
import { LocalService } from './local-service.ts'

/** What the app logged. */
export interface LoggedEvent {
  readonly event: string
  readonly fields: LogFields
  readonly cause: unknown
}

/** An answer, read to its end. */
export interface LocalAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape.
  readonly json: any
}

/** A request: what is not said is as a client without wishes would have it. */
export interface LocalRequest {
  readonly body?: object | string | Uint8Array | ReadableStream<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
}

const OPEN_HERE: AppSettings = { adminToken: '', isAuthDisabled: true, corsOrigins: [] }

/** One front and its service. */
export class LocalApp {
  readonly service: LocalService
  readonly app: App
  readonly logged: LoggedEvent[] = []

  constructor(settings: Partial<AppSettings> = {}, service = new LocalService({ seed: 1 })) {
    this.service = service
    const log = {
      error: (event: string, fields: LogFields, cause?: unknown) => {
        this.logged.push({ event, fields, cause })
      },
      info: () => undefined,
    }
    this.app = createApp({ ...service.front(), log, settings: { ...OPEN_HERE, ...settings } })
  }

  /** Sends a request; an object as body is sent as JSON. */
  async send(method: string, path: string, request: LocalRequest = {}): Promise<LocalAnswer> {
    const { body, headers = {} } = request
    const isPlain =
      typeof body === 'object' && !(body instanceof Uint8Array || body instanceof ReadableStream)
    const response = await this.app.request(`http://localhost${path}`, {
      method,
      headers: {
        ...lengthOf(body),
        ...(isPlain ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isPlain ? JSON.stringify(body) : body }),
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    } as RequestInit)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parse(text) }
  }

  /** Sends a request below `/api/v1/tables` and returns its JSON. Throws unless it succeeds. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape.
  async must(method: string, path: string, request: LocalRequest = {}): Promise<any> {
    const answer = await this.send(method, `/api/v1/tables${path}`, request)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.json
  }

  /** Makes a table that the catalog knows, as a client would. */
  makeTable(table: NewTable): void {
    this.service.createTable(table)
  }
}

/** What a client says of a body that it has as a whole. */
function lengthOf(body: LocalRequest['body']): Record<string, string> {
  if (typeof body === 'string') return { 'content-length': String(Buffer.byteLength(body)) }
  return body instanceof Uint8Array ? { 'content-length': String(body.length) } : {}
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
