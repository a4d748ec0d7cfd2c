/**
 * A number of a JSON text, kept as it was written: a double would round what INT64 and DECIMAL hold
 * exactly.
 *
 * Requires: `text` is a number by the grammar of JSON, as a JSON reader hands it out. What reads
 * its value checks the grammar again.
 */
export class NumberLiteral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The text, unquoted: not what JSON.stringify would make of a class. */
  toString(): string {
    return this.text
  }
}

/** A value of a JSON text that is neither an array nor an object. */
export type JsonScalar = null | boolean | string | NumberLiteral
