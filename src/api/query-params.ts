/** The parameters of a query string, each known to its route and checked once. */

import { shownValue } from '../common/cell-error.ts'
import { invalidArgument, type StatusError } from '../common/status.ts'
import type { ValueOptions } from '../common/value-options.ts'
import { decodePercent, rawQuery } from './raw-path.ts'

/** Parameters of every request that returns or takes rows. */
export const ROW_PARAMETERS = ['format', 'int64', 'timestamps', 'null'] as const

/** Parameters of every request that returns rows in all formats. */
export const READ_PARAMETERS = [...ROW_PARAMETERS, 'dictionary'] as const

const INT64_FORMS = ['number', 'string'] as const
const TIMESTAMP_FORMS = ['rfc3339', 'micros', 'millis'] as const

/** Parameters as they were sent, decoded. */
export class QueryParams {
  readonly #values: ReadonlyMap<string, readonly string[]>

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values
  }

  /** Whether a parameter was sent. */
  has(name: string): boolean {
    return this.#values.has(name)
  }

  /** A parameter, or null when it was not sent. */
  text(name: string): string | null {
    return this.#values.get(name)?.[0] ?? null
  }

  /** All values of a parameter that may be sent several times. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  /** A parameter that is one of a few words, in any case. Throws: INVALID_ARGUMENT. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const text = this.text(name)
    if (text === null) return null
    const found = choices.find((choice) => choice.toLowerCase() === text.toLowerCase())
    if (found !== undefined) return found
    throw wrongValue(name, text, `one of ${choices.join(', ')}`)
  }

  /** A parameter that is an integer in `[min, max]`. Throws: INVALID_ARGUMENT. */
  integer(name: string, min: number, max: number): number | null {
    const text = this.text(name)
    if (text === null) return null
    const value = Number(text)
    if (/^-?\d{1,16}$/.test(text) && value >= min && value <= max) return value
    throw wrongValue(name, text, `an integer from ${min} to ${max}`)
  }

  /** A parameter that is `true` or `false`. Throws: INVALID_ARGUMENT. */
  flag(name: string): boolean {
    return this.choice(name, ['true', 'false']) === 'true'
  }
}

/**
 * The parameters of a request.
 *
 * Throws: INVALID_ARGUMENT for one that is neither in `single` nor in `repeated`, for one of
 * `single` that is sent twice, and for what is not percent-encoded UTF-8.
 */
export function readQuery(
  request: Request,
  single: readonly string[],
  repeated: readonly string[] = [],
): QueryParams {
  const values = new Map<string, string[]>()
  for (const pair of rawQuery(request.url).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decodeParameter(equals === -1 ? pair : pair.slice(0, equals))
    if (!single.includes(name) && !repeated.includes(name)) {
      throw invalidArgument(`unknown query parameter ${JSON.stringify(shownValue(name))}`)
    }
    const known = values.get(name)
    if (known !== undefined && single.includes(name)) {
      throw invalidArgument(`query parameter "${name}" is given more than once`)
    }
    const text = equals === -1 ? '' : pair.slice(equals + 1)
    const value = decodeParameter(text, `query parameter "${name}":`)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return new QueryParams(values)
}

/** How values are written and read in a request. Throws: INVALID_ARGUMENT. */
export function valueOptionsOf(query: QueryParams): ValueOptions {
  return {
    int64: query.choice('int64', INT64_FORMS) ?? 'number',
    timestamps: query.choice('timestamps', TIMESTAMP_FORMS) ?? 'rfc3339',
  }
}

function decodeParameter(encoded: string, what = 'query parameter'): string {
  return decodePercent(encoded.replaceAll('+', ' '), what)
}

function wrongValue(name: string, text: string, expected: string): StatusError {
  const shown = JSON.stringify(shownValue(text))
  return invalidArgument(`query parameter "${name}": ${shown} is not ${expected}`)
}
