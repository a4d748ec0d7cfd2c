/** Columns of strings and binaries from a tape. Hot. */

import { decodeBase64 } from '../../common/base64.ts'
import { CELL_FORMS } from '../../common/cell-reader.ts'
import { CELL_BYTES_MAX } from '../../common/limits.ts'
import { type RowTape, TAPE_FORMS } from './row-tape.ts'
import { isScanned, type TapeColumn } from './tape-column.ts'

const BASE64_BYTES_MAX = Math.ceil(CELL_BYTES_MAX / 3) * 4

/** Reads STRING or VARCHAR. */
export function decodeStrings(it: TapeColumn): number {
  const { tape, cell, count, bytes, view, plan, column } = it
  const { starts, ends, forms, width } = tape
  const { offsets, values, rowCount } = column
  values.reserve(bytesOfColumn(tape, cell, count) + 4)
  const target = values.bytes
  const targetView = new DataView(target.buffer, target.byteOffset, target.length)
  const wordsEnd = bytes.length - 4
  const lengthMax = plan.lengthMax === 0 ? CELL_BYTES_MAX : plan.lengthMax
  let length = values.length
  let readCount = count
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form !== TAPE_FORMS.null && form !== TAPE_FORMS.absent) {
      const start = starts[entry]
      const end = ends[entry]
      const isPlain = form === CELL_FORMS.jsonString || form === CELL_FORMS.text
      if ((!isPlain || end - start > lengthMax) && !isScanned(tape, entry, bytes, plan)) {
        readCount = row
        break
      }
      if (isPlain && end - start <= 64 && end <= wordsEnd) {
        for (let from = start, to = length; from < end; from += 4, to += 4) {
          targetView.setInt32(to, view.getInt32(from, true), true)
        }
      } else {
        const source = form >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
        target.set(source.subarray(start, end), length)
      }
      length += end - start
    }
    offsets[rowCount + row + 1] = length
  }
  values.truncate(length)
  return readCount
}

/** Bytes of the texts of a column, those left out that no cell can hold. */
function bytesOfColumn(tape: RowTape, cell: number, count: number): number {
  const { starts, ends, forms, width } = tape
  let total = 0
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form === TAPE_FORMS.null || form === TAPE_FORMS.absent) continue
    const length = ends[entry] - starts[entry]
    if (length <= CELL_BYTES_MAX) total += length
  }
  return total
}

/** Reads BINARY. */
export function decodeBinaries(it: TapeColumn): number {
  const { tape, cell, count, bytes, column } = it
  const { starts, ends, forms, width } = tape
  const { offsets, values, rowCount } = column
  for (let row = 0, entry = cell; row < count; row++, entry += width) {
    const form = forms[entry]
    if (form !== TAPE_FORMS.null && form !== TAPE_FORMS.absent) {
      const source = form >= TAPE_FORMS.inScratch ? tape.scratch.bytes : bytes
      const cellForm = form & (TAPE_FORMS.inScratch - 1)
      const isText = cellForm === CELL_FORMS.jsonString || cellForm === CELL_FORMS.text
      const length = values.length
      const isRead =
        isText &&
        ends[entry] - starts[entry] <= BASE64_BYTES_MAX &&
        decodeBase64(source, starts[entry], ends[entry], values)
      if (!isRead || values.length - length > CELL_BYTES_MAX) {
        values.truncate(length)
        return row
      }
    }
    offsets[rowCount + row + 1] = values.length
  }
  return count
}
