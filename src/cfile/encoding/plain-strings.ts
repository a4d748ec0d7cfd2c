import type { ColumnVector } from '../../common/column-vector.ts'
import type { BodyReader } from './body-reader.ts'
import type { BodyWriter } from './body-writer.ts'
import type { DecodedValues } from './values.ts'

export function encodePlainStrings(cells: ColumnVector, body: BodyWriter): void {
  const { offsets, rowCount, bytes } = cells
  const first = offsets[0]
  for (let i = 0; i <= rowCount; i++) body.appendWord(offsets[i] - first)
  body.appendBytes(bytes, first, offsets[rowCount])
}

export function decodePlainStrings(count: number, reader: BodyReader): DecodedValues {
  const offsets = reader.words(count + 1)
  return { offsets, bytes: reader.view(offsets[count]) }
}
