/**
 * Compression of pages (K§1.4). A compressed form is kept only when it is clearly smaller, so a
 * reader often has nothing to do.
 */

import {
  constants,
  deflateRawSync,
  inflateRawSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import type { Compression } from '../common/schema.ts'
import { CorruptionError } from '../common/status.ts'

/** How a page is compressed, as stored. Numbers are Kudu's, ours come behind; never reused. */
export const CODECS = { NONE: 1, SNAPPY: 2, LZ4: 3, ZLIB: 4, ZSTD: 5 } as const
/** A stored compression. */
export type Codec = (typeof CODECS)[keyof typeof CODECS]

/** A compressed form is kept when it takes at most this share of the plain one. */
const RATIO_MAX = 0.9
/** Fewer bytes are not worth a call. */
const BYTES_MIN = 64
const ZSTD_LEVEL = 1

const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }

/** Whether tables may ask for a compression. */
export function isCompressionSupported(compression: Compression): boolean {
  return compression !== 'SNAPPY' && compression !== 'LZ4'
}

/** The codec of a column's compression. `isPacked`: the values are packed numbers already. */
export function codecOf(compression: Compression, isPacked: boolean): Codec {
  switch (compression) {
    case 'DEFAULT_COMPRESSION':
      return isPacked ? CODECS.NONE : CODECS.ZSTD
    case 'NO_COMPRESSION':
      return CODECS.NONE
    case 'SNAPPY':
      return CODECS.SNAPPY
    case 'LZ4':
      return CODECS.LZ4
    case 'ZLIB':
      return CODECS.ZLIB
    case 'ZSTD':
      return CODECS.ZSTD
  }
}

/** Compresses bytes. Returns: null when that would not save a tenth of them. */
export function compressBytes(codec: Codec, bytes: Uint8Array): Uint8Array | null {
  if (codec === CODECS.NONE || bytes.length < BYTES_MIN) return null
  const packed =
    codec === CODECS.ZLIB ? deflateRawSync(bytes) : zstdCompressSync(bytes, ZSTD_OPTIONS)
  return packed.length <= bytes.length * RATIO_MAX ? packed : null
}

/**
 * Undoes `compressBytes`.
 *
 * Returns: bytes of the receiver's own that begin at a multiple of 8 in their buffer. Throws:
 * CORRUPTION when they are not `byteCount` bytes.
 */
export function decompressBytes(
  codec: number,
  bytes: Uint8Array,
  byteCount: number,
  where: string,
): Uint8Array {
  const plain = new Uint8Array(byteCount)
  try {
    const unpacked =
      codec === CODECS.ZLIB
        ? inflateRawSync(bytes, { maxOutputLength: byteCount })
        : zstdDecompressSync(bytes, { maxOutputLength: byteCount })
    if (unpacked.length === byteCount) {
      plain.set(unpacked)
      return plain
    }
  } catch {
    // Told below, in words of ours.
  }
  throw new CorruptionError(`${where}: the page does not decompress to its ${byteCount} bytes`)
}
