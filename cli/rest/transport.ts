/** How requests reach a service and answers come back: over HTTP, unless a test says otherwise. */

/** A request. */
export interface TransportRequest {
  readonly method: string
  /** Path and query below the service's address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** What the body is put together from; no parts is no body. */
  readonly body: readonly Uint8Array[]
}

/** The beginning of an answer, its body still to be read. */
export interface TransportAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly header: (name: string) => string | undefined
  /** Fails when the answer breaks off. */
  readonly body: AsyncIterable<Uint8Array>
}

/** Connections to one service. */
export interface Transport {
  /** Sends a request. Rejects when no answer came. */
  readonly send: (request: TransportRequest) => Promise<TransportAnswer>
  readonly close: () => void
}

/** Opens connections to an address as they are needed; none may be silent longer than the limit. */
export type OpenTransport = (address: URL, idleMs: number) => Transport
