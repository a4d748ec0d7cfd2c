/** Finds where a CSV record ends that came in pieces, looking at every byte once. */

const QUOTE = 0x22
const COMMA = 0x2c
const NEWLINE = 0x0a

const STATES = { fieldStart: 0, unquoted: 1, quoted: 2, quoteInQuoted: 3 } as const

/** Goes through one record, piece by piece. */
export class CsvRecordEnd {
  #state: number = STATES.fieldStart

  /** Begins a record. */
  reset(): void {
    this.#state = STATES.fieldStart
  }

  /**
   * The offset in `bytes[start, end)` behind the line break that ends the record; −1 when it does
   * not end there. A quote that no field can have ends it too: what is wrong with the record is
   * then found by who reads it.
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    let state = this.#state
    for (let i = start; i < end; i++) {
      const byte = bytes[i]
      if (byte === QUOTE) {
        if (state === STATES.unquoted) return i + 1
        state = state === STATES.quoted ? STATES.quoteInQuoted : STATES.quoted
      } else if (state !== STATES.quoted) {
        if (byte === NEWLINE) return i + 1
        state = byte === COMMA ? STATES.fieldStart : STATES.unquoted
      }
    }
    this.#state = state
    return -1
  }
}
