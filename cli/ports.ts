/** What a command takes from the process that it runs in: tests give their own. */

import type { OpenTransport } from './rest/transport.ts'

/** See the file's header. */
export interface CliPorts {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Writes to the standard output. */
  readonly out: (text: string) => void
  /** Writes to the standard error. */
  readonly err: (text: string) => void
  /** Whether the standard error is a terminal, on which a line may be written over. */
  readonly isErrTerminal: boolean
  /** Milliseconds since some moment; never goes back. */
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Lets whatever else waits for its turn have it. */
  readonly yieldTurn: () => Promise<void>
  /** Does some work again and again. Returns: what ends it. */
  readonly every: (ms: number, work: () => void) => () => void
  /** Does some work when the user asks to stop for the first time. Returns: what ends that. */
  readonly onInterrupt: (work: () => void) => () => void
  /** So many random bytes, in hexadecimal. */
  readonly randomHex: (bytes: number) => string
  readonly openTransport: OpenTransport
}
