/** Encodings as stored, numbered as Kudu numbers them (K§1.3). Never reused. */
export const STORED_ENCODINGS = { PLAIN: 1, PREFIX: 2, RLE: 4, DICT: 5, BIT_SHUFFLE: 6 } as const

/** Decoded values: all of a page that are not null. */
export interface DecodedValues {
  /** Lanes, with room for all rows of the page, or binary values joined. */
  readonly bytes: Uint8Array
  /** Binary: one offset more than values. Else anything. */
  readonly offsets: Uint32Array
  /** Binary: which one of `bytes` each value is, when these are the different ones; else null. */
  readonly codes: Uint16Array | null
}
