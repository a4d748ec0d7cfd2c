/**
 * Cuts an Arrow IPC stream into its messages as it comes.
 *
 *   marker 0xffffffff | metadataBytes i32 | metadata | body, its bytes named by the metadata
 *   …
 *   marker | 0     or nothing: a stream may end behind any message
 *
 * Streams older than 2019 have no markers.
 */

import { ARROW_METADATA_BYTES_MAX } from '../../../common/limits.ts'
import { invalidArgument, StatusError } from '../../../common/status.ts'
import { ByteArena } from '../../../util/arena.ts'
import { EMPTY_BYTES } from '../../../util/bytes.ts'
import { type ArrowMessage, readArrowMessage } from './arrow-message.ts'

const MARKER = 0xffff_ffff
/** The first bytes of formats that are sent by mistake. */
const OTHER_FORMATS: ReadonlyMap<number, string> = new Map([
  [firstWord('ARRO'), 'the Arrow file format'],
  [firstWord('FEA1'), 'the Feather format'],
  [firstWord('PAR1'), 'Parquet'],
])

function firstWord(text: string): number {
  const word = Uint8Array.from(text, (character) => character.charCodeAt(0))
  return new DataView(word.buffer).getUint32(0, true)
}

/** Where the reader is in a message. */
type Place = 'start' | 'metadata bytes' | 'metadata' | 'body' | 'whole' | 'behind the end'

/** Asked before memory grows: bytes that are held in all from then on. Throws to refuse. */
export type HoldBytes = (bytes: number) => void

/** Reads the messages of one stream, one at a time. */
export class ArrowMessageReader {
  /** Messages that were begun. */
  messageCount = 0
  /** The whole message, once `isWhole`; its body is good until `release`. */
  message: ArrowMessage | null = null

  readonly #hold: HoldBytes
  readonly #word = new ByteArena(4)
  readonly #metadata = new ByteArena(4096)
  #body: Uint8Array = EMPTY_BYTES
  #bodyLength = 0
  #metadataBytes = 0
  #place: Place = 'start'

  constructor(hold: HoldBytes) {
    this.#hold = hold
  }

  /** Whether a message was read to its end, and was not released. */
  get isWhole(): boolean {
    return this.#place === 'whole'
  }

  /** The body of the message; it begins at a multiple of 8 in its buffer. */
  get body(): Uint8Array {
    return this.#body.subarray(0, this.#bodyLength)
  }

  /** Bytes that are kept for bodies. */
  get heldBytes(): number {
    return this.#body.length
  }

  /** Lets go of the message, so that the next one can be read. */
  release(): void {
    this.message = null
    this.#place = 'start'
  }

  /**
   * Takes in `chunk[start, …)` up to the end of a message.
   *
   * Returns: where it stopped. Throws: INVALID_ARGUMENT for what is no message,
   * UNSUPPORTED_MEDIA_TYPE for what is another format. Requires: no message is whole.
   */
  take(chunk: Uint8Array, start: number): number {
    let position = start
    while (position < chunk.length && this.#place !== 'whole') {
      position = this.#step(chunk, position)
    }
    return position
  }

  /** Throws: INVALID_ARGUMENT when the stream ends inside a message. */
  finish(): void {
    const isBetween = this.#place === 'start' && this.#word.length === 0
    if (isBetween || this.#place === 'behind the end') return
    if (this.#place === 'start') this.messageCount++
    throw invalidArgument('the stream is cut off inside a message')
  }

  #step(chunk: Uint8Array, position: number): number {
    switch (this.#place) {
      case 'start':
      case 'metadata bytes': {
        const end = fill(this.#word, 4, chunk, position)
        if (this.#word.length === 4) this.#endWord()
        return end
      }
      case 'metadata': {
        const end = fill(this.#metadata, this.#metadataBytes, chunk, position)
        if (this.#metadata.length === this.#metadataBytes) this.#endMetadata()
        return end
      }
      case 'body':
        return this.#takeBody(chunk, position)
      default:
        this.messageCount++
        throw invalidArgument('bytes follow the end of the stream')
    }
  }

  #endWord(): void {
    const { bytes } = this.#word
    const word = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
    this.#word.truncate(0)
    if (this.#place === 'start') {
      this.messageCount++
      if (word === MARKER) {
        this.#place = 'metadata bytes'
        return
      }
      if (this.messageCount === 1) refuseOtherFormats(word)
    }
    if (word === 0) {
      this.messageCount--
      this.#place = 'behind the end'
      return
    }
    if (word > ARROW_METADATA_BYTES_MAX) throw metadataTooLarge(word, this.messageCount)
    this.#metadataBytes = word
    this.#metadata.truncate(0)
    this.#place = 'metadata'
  }

  #endMetadata(): void {
    const { bytes, length } = this.#metadata
    this.message = readArrowMessage(bytes.subarray(0, length))
    this.#bodyLength = 0
    this.#place = this.message.bodyBytes === 0 ? 'whole' : 'body'
  }

  #takeBody(chunk: Uint8Array, position: number): number {
    const bodyBytes = this.message?.bodyBytes ?? 0
    const end = Math.min(chunk.length, position + bodyBytes - this.#bodyLength)
    this.#reserveBody(this.#bodyLength + end - position, bodyBytes)
    this.#body.set(chunk.subarray(position, end), this.#bodyLength)
    this.#bodyLength += end - position
    if (this.#bodyLength === bodyBytes) this.#place = 'whole'
    return end
  }

  /** Makes room as bytes come, so that a length alone costs nothing. */
  #reserveBody(needed: number, bodyBytes: number): void {
    if (needed <= this.#body.length) return
    const capacity = Math.min(bodyBytes, Math.max(needed, this.#body.length * 2))
    this.#hold(capacity)
    const grown = new Uint8Array(capacity)
    grown.set(this.#body.subarray(0, this.#bodyLength))
    this.#body = grown
  }
}

/** Appends bytes of a chunk until there are `bytes`. Returns: where it stopped. */
function fill(arena: ByteArena, bytes: number, chunk: Uint8Array, position: number): number {
  const end = Math.min(chunk.length, position + bytes - arena.length)
  arena.append(chunk, position, end)
  return end
}

function refuseOtherFormats(word: number): void {
  const format = OTHER_FORMATS.get(word)
  if (format === undefined) return
  const message = `body is ${format}, which is not read; send the Arrow IPC streaming format`
  throw new StatusError('UNSUPPORTED_MEDIA_TYPE', message)
}

function metadataTooLarge(bytes: number, messageCount: number): StatusError {
  const limit = ARROW_METADATA_BYTES_MAX
  if (messageCount === 1 && bytes > 2 ** 24) {
    return invalidArgument('body does not begin as an Arrow IPC stream does')
  }
  return invalidArgument(`metadata has ${bytes} bytes, limit is ${limit}`, { limit })
}
