/**
 * The rowsets of a superblock as bytes (docs/formats/superblock.md). All numbers are varints, lists
 * and keys begin with their length.
 *
 *   rowset      id │ rowCount │ liveRowCount │ mark │ newestUndo │ lowerKey │ upperKey │ directory
 *               file, block │ baseBytes │ baseFiles … │ undos … │ redos …
 *   delta file  file │ firstBlock │ firstOrdinals, each less the one before │ recordCount │
 *               deleteCount │ reinsertCount │ oldest │ newest − oldest │ bytes │
 *               columns: id, cellCount …
 */

import { appendSized, appendVarint, VarintReader } from '../cfile/varint.ts'
import { ByteArena } from '../util/arena.ts'
import type { DeltaColumnMeta, DeltaFileMeta, RowSetMeta } from './disk/row-set-meta.ts'

/** Bytes of rowsets. Requires: every number is a non-negative safe integer. */
export function encodeRowSets(rowSets: readonly RowSetMeta[]): Uint8Array {
  const target = new ByteArena(64 + rowSets.length * 128)
  appendVarint(target, rowSets.length)
  for (const meta of rowSets) appendRowSet(target, meta)
  return target.bytes.subarray(0, target.length)
}

function appendRowSet(target: ByteArena, meta: RowSetMeta): void {
  appendVarint(target, meta.id)
  appendVarint(target, meta.rowCount)
  appendVarint(target, meta.liveRowCount)
  appendVarint(target, meta.mark)
  appendVarint(target, meta.newestUndo)
  appendSized(target, meta.lowerKey)
  appendSized(target, meta.upperKey)
  appendVarint(target, meta.directory.file)
  appendVarint(target, meta.directory.block)
  appendVarint(target, meta.baseBytes)
  appendVarint(target, meta.baseFiles.length)
  for (const file of meta.baseFiles) appendVarint(target, file)
  appendVarint(target, meta.undos.length)
  for (const delta of meta.undos) appendDeltaFile(target, delta)
  appendVarint(target, meta.redos.length)
  for (const delta of meta.redos) appendDeltaFile(target, delta)
}

function appendDeltaFile(target: ByteArena, meta: DeltaFileMeta): void {
  appendVarint(target, meta.file)
  appendVarint(target, meta.firstBlock)
  appendVarint(target, meta.firstOrdinals.length)
  let before = 0
  for (const ordinal of meta.firstOrdinals) {
    appendVarint(target, ordinal - before)
    before = ordinal
  }
  appendVarint(target, meta.recordCount)
  appendVarint(target, meta.deleteCount)
  appendVarint(target, meta.reinsertCount)
  appendVarint(target, meta.oldest)
  appendVarint(target, meta.newest - meta.oldest)
  appendVarint(target, meta.bytes)
  appendVarint(target, meta.columns.length)
  for (const { columnId, cellCount } of meta.columns) {
    appendVarint(target, columnId)
    appendVarint(target, cellCount)
  }
}

/**
 * The rowsets of their bytes. Keys are copies. Throws: CORRUPTION when they do not fill the bytes.
 */
export function decodeRowSets(bytes: Uint8Array, where: string): RowSetMeta[] {
  const reader = new VarintReader(bytes, 0, where)
  const rowSets = readList(reader, readRowSet)
  if (reader.offset !== bytes.length) throw reader.corruption('has bytes behind its rowsets')
  return rowSets
}

function readRowSet(reader: VarintReader): RowSetMeta {
  return {
    id: reader.next(),
    rowCount: reader.next(),
    liveRowCount: reader.next(),
    mark: reader.next(),
    newestUndo: reader.next(),
    lowerKey: reader.nextSized().slice(),
    upperKey: reader.nextSized().slice(),
    directory: { file: reader.next(), block: reader.next() },
    baseBytes: reader.next(),
    baseFiles: readList(reader, (it) => it.next()),
    undos: readList(reader, readDeltaFile),
    redos: readList(reader, readDeltaFile),
  }
}

function readDeltaFile(reader: VarintReader): DeltaFileMeta {
  const file = reader.next()
  const firstBlock = reader.next()
  let before = 0
  const firstOrdinals = readList(reader, (it) => {
    before += it.next()
    return before
  })
  const recordCount = reader.next()
  const deleteCount = reader.next()
  const reinsertCount = reader.next()
  const oldest = reader.next()
  const newest = oldest + reader.next()
  const deltaBytes = reader.next()
  const columns = readList(reader, readDeltaColumn)
  return {
    file,
    firstBlock,
    firstOrdinals,
    recordCount,
    deleteCount,
    reinsertCount,
    oldest,
    newest,
    bytes: deltaBytes,
    columns,
  }
}

function readDeltaColumn(reader: VarintReader): DeltaColumnMeta {
  return { columnId: reader.next(), cellCount: reader.next() }
}

/** Every item takes at least a byte, so a damaged length ends at the end of the bytes. */
function readList<T>(reader: VarintReader, readItem: (reader: VarintReader) => T): T[] {
  const count = reader.nextUpTo(reader.bytes.length)
  const items: T[] = []
  for (let i = 0; i < count; i++) items.push(readItem(reader))
  return items
}
