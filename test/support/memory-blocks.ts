import type { BlockId, BlockReader, BlockWriter } from '../../src/cfile/block-id.ts'
import { STORED_ROW_BYTES_MAX } from '../../src/common/limits.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { assert } from '../../src/util/assert.ts'

/** Files of blocks in memory, without transactions; their bits can be flipped. */
export class MemoryBlocks implements BlockReader {
  readonly #files = new Map<number, Uint8Array[]>()
  /** Blocks, or slices of blocks, that were read so far. */
  rowsRead = 0
  /** Blocks that were written so far. */
  rowsWritten = 0

  /** Makes an empty file, and appends to it. */
  createFile(file: number): BlockWriter {
    const blocks: Uint8Array[] = []
    this.#files.set(file, blocks)
    return {
      file,
      append: (bytes) => {
        assert(bytes.length <= STORED_ROW_BYTES_MAX, 'a block fits one stored row')
        this.rowsWritten++
        return blocks.push(bytes.slice())
      },
    }
  }

  readBlock(file: number, block: number, start = 0, end?: number): Uint8Array {
    const bytes = this.#files.get(file)?.[block - 1]
    if (bytes === undefined) throw new CorruptionError(`file ${file}, block ${block}: missing`)
    if (end !== undefined && end > bytes.length) {
      throw new CorruptionError(`file ${file}, block ${block}: shorter than ${end} bytes`)
    }
    this.rowsRead++
    return bytes.slice(start, end)
  }

  /** Every block, by file and number. */
  get blockIds(): BlockId[] {
    return [...this.#files].flatMap(([file, blocks]) => {
      return blocks.map((_, index) => ({ file, block: index + 1 }))
    })
  }

  /** Bytes of all blocks of all files. */
  get bytes(): number {
    return this.blockIds.reduce((sum, id) => sum + this.#mustBlock(id).length, 0)
  }

  /** Bytes of a block. */
  sizeOf(id: BlockId): number {
    return this.#mustBlock(id).length
  }

  /** Turns one bit of a block around; a second time turns it back. */
  flipBit(id: BlockId, bit: number): void {
    this.#mustBlock(id)[bit >>> 3] ^= 1 << (bit & 7)
  }

  /** Drops a block. */
  dropBlock({ file, block }: BlockId): void {
    delete this.#files.get(file)?.[block - 1]
  }

  /** Cuts a block to its first `bytes`. */
  cutBlock(id: BlockId, bytes: number): void {
    const blocks = this.#files.get(id.file)
    assert(blocks !== undefined, 'the file exists')
    blocks[id.block - 1] = this.#mustBlock(id).slice(0, bytes)
  }

  #mustBlock({ file, block }: BlockId): Uint8Array {
    const bytes = this.#files.get(file)?.[block - 1]
    assert(bytes !== undefined, 'the block exists')
    return bytes
  }
}
