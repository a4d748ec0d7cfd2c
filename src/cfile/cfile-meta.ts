/**
 * What a directory says of the file of one column: where its pages lie, and what is in them.
 */

import { PHYSICAL, type Physical } from '../common/data-type.ts'
import type { ByteArena } from '../util/arena.ts'
import { utf8Decode, utf8Encode } from '../util/bytes.ts'
import { appendPageList, type PageList, readPageList } from './page-list.ts'
import { appendSized, appendVarint, type VarintReader } from './varint.ts'

const FORM_COUNT_MAX = 64

/** Pages of a column that were stored in one way. For reports. */
export interface PageForm {
  readonly encoding: string
  readonly compression: string
  readonly pageCount: number
  readonly bytes: number
}

/**
 * The pages of one column. Complete, and so fit to be stored, once their blocks are written: after
 * `finish` of a CFileWriter that has blocks of its own, else after the packer's `flush`.
 */
export interface CFileMeta {
  readonly physical: Physical
  readonly pages: PageList
  /** Zone maps of all pages (`encodeZoneMaps`); decoded when they are first asked for. */
  readonly zones: Uint8Array
  readonly nullCount: number
  readonly forms: readonly PageForm[]
}

/** Appends the stored form. */
export function appendCFileMeta(target: ByteArena, meta: CFileMeta): void {
  appendVarint(target, meta.physical)
  appendPageList(target, meta.pages)
  appendVarint(target, meta.nullCount)
  appendVarint(target, meta.forms.length)
  for (const form of meta.forms) {
    appendSized(target, utf8Encode(form.encoding))
    appendSized(target, utf8Encode(form.compression))
    appendVarint(target, form.pageCount)
    appendVarint(target, form.bytes)
  }
  appendSized(target, meta.zones)
}

/** Reads what `appendCFileMeta` wrote; `zones` is a view. Throws: CORRUPTION. */
export function readCFileMeta(reader: VarintReader): CFileMeta {
  const physical = reader.nextUpTo(PHYSICAL.binary) as Physical
  const pages = readPageList(reader)
  const nullCount = reader.next()
  const forms: PageForm[] = []
  const formCount = reader.nextUpTo(FORM_COUNT_MAX)
  for (let i = 0; i < formCount; i++) {
    const encoding = utf8Decode(reader.nextSized())
    const compression = utf8Decode(reader.nextSized())
    forms.push({ encoding, compression, pageCount: reader.next(), bytes: reader.next() })
  }
  return { physical, pages, nullCount, forms, zones: reader.nextSized() }
}
