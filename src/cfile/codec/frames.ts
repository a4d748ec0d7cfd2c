/**
 * Compression by the platform's libraries, in frames of at most 32 KiB of plain bytes: in workerd
 * what is larger than 40 KiB fails, depending on the bytes, with zstd when it is compressed
 * (github.com/cloudflare/workerd/issues/6769) and with zlib when it is read.
 *
 *   word  field
 *     0…  bytes of each frame, one for every 32 KiB begun
 *      …  the frames, joined
 */

import {
  constants,
  deflateRawSync,
  inflateRawSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'

/** What makes and reads frames. */
export type FrameLibrary = 'zlib' | 'zstd'

const FRAME_BYTES = 32 * 1024
const ZSTD_LEVEL = 1

const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }

/** Compresses bytes. Returns: fresh bytes. Cost: a call a frame, 5 to 15 ns a byte. */
export function compressFrames(library: FrameLibrary, source: Uint8Array): Uint8Array {
  const frameCount = Math.ceil(source.length / FRAME_BYTES)
  const sizes = new Uint32Array(frameCount)
  const frames: Uint8Array[] = []
  let bytes = sizes.byteLength
  for (let i = 0; i < frameCount; i++) {
    const plain = source.subarray(i * FRAME_BYTES, (i + 1) * FRAME_BYTES)
    const frame = library === 'zlib' ? deflateRawSync(plain) : zstdCompressSync(plain, ZSTD_OPTIONS)
    frames.push(frame)
    sizes[i] = frame.length
    bytes += frame.length
  }
  const target = new Uint8Array(bytes)
  target.set(new Uint8Array(sizes.buffer))
  let at = sizes.byteLength
  for (const frame of frames) {
    target.set(frame, at)
    at += frame.length
  }
  return target
}

/**
 * Undoes `compressFrames`. Returns: whether `source` holds exactly the bytes that fill `target`.
 *
 * Requires: `source` begins at a multiple of 4 in its buffer. Throws: what the platform throws for
 * frames that are none. Cost: a call a frame, 2 to 5 ns a byte.
 */
export function decompressFrames(
  library: FrameLibrary,
  source: Uint8Array,
  target: Uint8Array,
): boolean {
  const frameCount = Math.ceil(target.length / FRAME_BYTES)
  if (source.length < frameCount * 4) return false
  const sizes = new Uint32Array(source.buffer, source.byteOffset, frameCount)
  let from = sizes.byteLength
  for (let i = 0; i < frameCount; i++) {
    const start = i * FRAME_BYTES
    const plainBytes = Math.min(FRAME_BYTES, target.length - start)
    if (from + sizes[i] > source.length) return false
    const frame = source.subarray(from, from + sizes[i])
    const options = { maxOutputLength: plainBytes, chunkSize: Math.max(64, plainBytes) }
    const plain =
      library === 'zlib' ? inflateRawSync(frame, options) : zstdDecompressSync(frame, options)
    if (plain.length !== plainBytes) return false
    target.set(plain, start)
    from += sizes[i]
  }
  return from === source.length
}
