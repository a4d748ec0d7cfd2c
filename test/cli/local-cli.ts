/** The command line tool over a service, both in this process: no socket, no real time. */

import { MODES } from '../../cli/modes.ts'
import type { CliPorts } from '../../cli/ports.ts'
import type { Transport, TransportAnswer, TransportRequest } from '../../cli/rest/transport.ts'
import { runCli } from '../../cli/run-cli.ts'
import { LocalApp } from '../support/local-app.ts'

/** What stands between the tool and the service: an answer of its own, or what `pass` gives. */
export type Between = (
  request: TransportRequest,
  pass: () => Promise<TransportAnswer>,
) => Promise<TransportAnswer>

/** What a command came to. */
export interface CliRun {
  readonly exitCode: number
  readonly out: string
  readonly err: string
}

/** The tool and its surroundings. */
export class LocalCli {
  readonly app: LocalApp
  environment: Record<string, string> = {}
  /** Everything that was sent. */
  readonly requests: TransportRequest[] = []
  /** How long it was waited in all. */
  sleptMs = 0
  between: Between = (_, pass) => pass()
  /** Interrupts the command as Ctrl-C does. */
  interrupt: () => void = () => undefined
  #nowMs = 0
  #name = 0

  constructor(app = new LocalApp()) {
    this.app = app
  }

  /** Runs a command of words between blanks. */
  async run(command: string, more: Partial<CliPorts> = {}): Promise<CliRun> {
    let out = ''
    let err = ''
    const ports: CliPorts = {
      environment: this.environment,
      out: (text) => {
        out += text
      },
      err: (text) => {
        err += text
      },
      isErrTerminal: false,
      nowMs: () => this.#nowMs++,
      sleep: async (ms) => {
        this.#nowMs += ms
        this.sleptMs += ms
      },
      yieldTurn: () => Promise.resolve(),
      every: () => () => undefined,
      onInterrupt: (work) => {
        this.interrupt = work
        return () => undefined
      },
      randomHex: (bytes) => (++this.#name).toString(16).padStart(bytes * 2, '0'),
      openTransport: () => this.#transport(),
      ...more,
    }
    const words = command.split(' ').filter((word) => word !== '')
    return { exitCode: await runCli(words, MODES, ports), out, err }
  }

  /** Runs the load generator. */
  loadgen(flags: string, more: Partial<CliPorts> = {}): Promise<CliRun> {
    return this.run(`perf loadgen http://localhost ${flags}`, more)
  }

  /** Rows of a table, in key order. */
  // biome-ignore lint/suspicious/noExplicitAny: rows have the shape of their table.
  async rows(table: string): Promise<any[]> {
    const scan = { order: 'ORDERED', page_size: 10_000 }
    return (await this.app.must('POST', `/${table}/scan`, { body: scan })).rows
  }

  /** Names of the tables that there are. */
  async tables(): Promise<string[]> {
    const { tables } = await this.app.must('GET', '')
    return tables.map((table: { table_name: string }) => table.table_name)
  }

  #transport(): Transport {
    return {
      send: (request) => {
        this.requests.push(request)
        return this.between(request, () => this.#pass(request))
      },
      close: () => undefined,
    }
  }

  async #pass({ method, path, headers, body }: TransportRequest): Promise<TransportAnswer> {
    const response = await this.app.app.request(`http://localhost${path}`, {
      method,
      headers,
      // A copy: what was sent is gone, whatever becomes of the sender's buffers.
      ...(body.length === 0 ? {} : { body: Buffer.concat(body) }),
    })
    return {
      status: response.status,
      header: (name) => response.headers.get(name) ?? undefined,
      body: response.body ?? emptyBody(),
    }
  }
}

/** An answer that the service did not give. */
export function madeUpAnswer(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): TransportAnswer {
  return {
    status,
    header: (name) => headers[name],
    body: emptyBody(new TextEncoder().encode(text)),
  }
}

async function* emptyBody(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
