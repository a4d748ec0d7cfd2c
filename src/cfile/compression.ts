/**
 * Compression of pages (K§1.4). A compressed form is kept only when it is clearly smaller, so a
 * reader often has nothing to do.
 */

import type { Compression } from '../common/schema.ts'
import { CorruptionError } from '../common/status.ts'
import { unreachable } from '../util/assert.ts'
import { compressSnappy, decompressSnappy } from '../util/snappy.ts'
import { compressFrames, decompressFrames } from './codec/frames.ts'
import { compressLz4, decompressLz4 } from './codec/lz4.ts'

/** How a page is compressed, as stored. Numbers are Kudu's, ours come behind; never reused. */
export const CODECS = { NONE: 1, SNAPPY: 2, LZ4: 3, ZLIB: 4, ZSTD: 5 } as const
/** A stored compression. */
export type Codec = (typeof CODECS)[keyof typeof CODECS]

/** A compressed form is kept when it takes at most this share of the plain one. */
const RATIO_MAX = 0.9
/** Fewer bytes are not worth a call. */
const BYTES_MIN = 128
/** Bytes by which it is judged whether the others compress. */
const SLICE_BYTES = 2048

/** The codec for a page of a column. `isPacked`: its values are packed numbers already. */
export function codecOf(compression: Compression, isPacked: boolean): Codec {
  switch (compression) {
    case 'DEFAULT_COMPRESSION':
      return isPacked ? CODECS.NONE : CODECS.ZSTD
    case 'NO_COMPRESSION':
      return CODECS.NONE
    default:
      return CODECS[compression]
  }
}

/**
 * Whether a slice from the middle compresses by a tenth, so that it is worth trying with the whole.
 * Few bytes always are.
 */
export function looksCompressible(codec: Codec, bytes: Uint8Array): boolean {
  if (bytes.length < SLICE_BYTES * 3) return true
  const start = (bytes.length - SLICE_BYTES) >>> 1
  return compressBytes(codec, bytes.subarray(start, start + SLICE_BYTES)) !== null
}

/** Compresses bytes. Returns: null when that would not save a tenth of them. */
export function compressBytes(codec: Codec, bytes: Uint8Array): Uint8Array | null {
  if (codec === CODECS.NONE || bytes.length < BYTES_MIN) return null
  const compressed = compressWith(codec, bytes)
  return compressed.length <= bytes.length * RATIO_MAX ? compressed : null
}

function compressWith(codec: Exclude<Codec, 1>, bytes: Uint8Array): Uint8Array {
  switch (codec) {
    case CODECS.SNAPPY:
      return compressSnappy(bytes)
    case CODECS.LZ4:
      return compressLz4(bytes)
    case CODECS.ZLIB:
      return compressFrames('zlib', bytes)
    case CODECS.ZSTD:
      return compressFrames('zstd', bytes)
    default:
      return unreachable(codec)
  }
}

/**
 * Undoes `compressBytes`.
 *
 * Returns: bytes of the receiver's own, at the beginning of their buffer. Throws: CORRUPTION that
 * begins with `where` when they are not `byteCount` bytes. Requires: `bytes` begins at a multiple
 * of 4 in its buffer.
 */
export function decompressBytes(
  codec: number,
  bytes: Uint8Array,
  byteCount: number,
  where: string,
): Uint8Array {
  const plain = new Uint8Array(byteCount)
  if (!decompressInto(codec, bytes, plain)) {
    throw new CorruptionError(`${where}: the page does not decompress to its ${byteCount} bytes`)
  }
  return plain
}

function decompressInto(codec: number, bytes: Uint8Array, plain: Uint8Array): boolean {
  try {
    switch (codec) {
      case CODECS.SNAPPY:
        return decompressSnappy(bytes, plain)
      case CODECS.LZ4:
        return decompressLz4(bytes, plain)
      case CODECS.ZSTD:
        return decompressFrames('zstd', bytes, plain)
      case CODECS.ZLIB:
        return decompressFrames('zlib', bytes, plain)
      default:
        return false
    }
  } catch {
    // The platform's libraries throw errors of their own for bytes that are not theirs.
    return false
  }
}
