/**
 * What the objects say about themselves: one JSON line an event, which the platform collects.
 *
 *   error   somebody must look        info   a state changed        debug   everything else
 *
 * Fields hold ids, counts and texts of errors, never cells, keys or secrets.
 */

/** Levels, the loudest first. */
export const LOG_LEVELS = ['error', 'info', 'debug'] as const
/** A level. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Facts about an event. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Writes events at or above a level. */
export class Log {
  readonly #levelRank: number
  readonly #context: LogFields

  /**
   * `level` is a configured text; one that is no level means info. `context` is part of every line.
   */
  constructor(level: string | undefined, context: LogFields = {}) {
    const rank = LOG_LEVELS.indexOf(level as LogLevel)
    this.#levelRank = rank === -1 ? LOG_LEVELS.indexOf('info') : rank
    this.#context = context
  }

  /** Something is wrong with the program or with what it stored. */
  error(event: string, fields: LogFields, cause?: unknown): void {
    this.#write('error', event, { ...fields, ...describeCause(cause) })
  }

  /** A state changed. */
  info(event: string, fields: LogFields = {}): void {
    this.#write('info', event, fields)
  }

  /** A detail for whoever looks for it. */
  debug(event: string, fields: LogFields = {}): void {
    this.#write('debug', event, fields)
  }

  #write(level: LogLevel, event: string, fields: LogFields): void {
    if (LOG_LEVELS.indexOf(level) > this.#levelRank) return
    const line = JSON.stringify({ level, event, ...this.#context, ...fields })
    if (level === 'error') console.error(line)
    else console.log(line)
  }
}

function describeCause(cause: unknown): LogFields {
  if (cause === undefined) return {}
  if (!(cause instanceof Error)) return { cause: String(cause) }
  return { cause: `${cause.name}: ${cause.message}`, stack: cause.stack ?? '' }
}
