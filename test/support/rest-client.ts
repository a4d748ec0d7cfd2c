/**
 * The REST interface as tests use it: no cleverness, so that a test reads as the request it makes.
 */

/** An answer, read to its end. */
export interface RestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; numbers beyond 2^53 lose digits here, look at `text` for those. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape.
  readonly json: any
}

/** What sends a request: over the network, unless a test says otherwise. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Sends requests to one service. */
export class RestClient {
  readonly #address: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #fetch: Fetch

  constructor(
    address: string,
    headers: Readonly<Record<string, string>> = {},
    send: Fetch = (url, init) => fetch(url, init),
  ) {
    this.#address = address
    this.#headers = headers
    this.#fetch = send
  }

  /** Sends one request below `/api/v1`. An object as body is sent as JSON. */
  async send(
    method: string,
    path: string,
    body?: object | string | Uint8Array | ReadableStream<Uint8Array>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<RestAnswer> {
    const response = await this.open(method, path, body, headers)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: parse(text) }
  }

  /** As `send`, and leaves the answer's body to the caller. */
  open(
    method: string,
    path: string,
    body?: object | string | Uint8Array | ReadableStream<Uint8Array>,
    headers: Readonly<Record<string, string>> = {},
    signal: AbortSignal | null = null,
  ): Promise<Response> {
    const isPlain =
      typeof body === 'object' && !(body instanceof Uint8Array || body instanceof ReadableStream)
    return this.#fetch(`${this.#address}/api/v1${path}`, {
      signal,
      method,
      headers: {
        ...(isPlain ? { 'content-type': 'application/json' } : {}),
        ...this.#headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body: isPlain ? JSON.stringify(body) : (body as BodyInit) }),
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    } as RequestInit)
  }

  /** Sends a request and returns its body. Throws when the status is no success. */
  async must(
    method: string,
    path: string,
    body?: object | string,
    headers?: Readonly<Record<string, string>>,
    // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape.
  ): Promise<any> {
    const answer = await this.send(method, path, body, headers)
    if (answer.status >= 300) {
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`)
    }
    return answer.json
  }

  /** All rows of a scan, page by page. */
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape of their table.
  async scanPages(table: string, scan: object, pageSize = 1000): Promise<any[]> {
    const rows = []
    let page = await this.must('POST', `/tables/${table}/scan`, { ...scan, page_size: pageSize })
    for (;;) {
      rows.push(...page.rows)
      if (page.next_page_token === undefined) return rows
      const next = { ...scan, page_size: pageSize, page_token: page.next_page_token }
      page = await this.must('POST', `/tables/${table}/scan`, next)
    }
  }

  /** All rows of a scan, as a stream of lines. */
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape of their table.
  async scanStream(table: string, scan: object): Promise<any[]> {
    const accept = { accept: 'application/x-ndjson' }
    const answer = await this.send('POST', `/tables/${table}/scan`, scan, accept)
    if (answer.status !== 200) throw new Error(`scan: ${answer.status} ${answer.text}`)
    return answer.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
