import { tableFromIPC } from '@uwdata/flechette'
import { parquetReadObjects } from 'hyparquet'
import { describe, expect, test } from 'vitest'
import { utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { aSchema } from '../../support/a-schema.ts'
import { streamed } from '../../support/encode-stream.ts'

const { columns } = aSchema('k INT64 KEY', 's STRING NULL', 'd DOUBLE NULL', 'b BOOL')
const ROWS = Array.from({ length: 3000 }, (_, k) => {
  return [BigInt(k) - 1500n, k % 7 === 0 ? null : utf8Encode(`é ${k % 50}`), k / 8, k % 2]
})
const EXPECTED = ROWS.map(([k, s, d, b]) => {
  return { k, s: s === null ? null : utf8Decode(s as Uint8Array), d, b: b === 1 }
})

describe('createStreamEncoder', () => {
  test.each([false, true])(
    'write in workerd what readers there take, dictionaries %s',
    (hasDictionaries) => {
      const bytes = streamed('arrow', columns, ROWS, { hasDictionaries })

      expect(tableFromIPC(bytes, { useBigInt: true }).toArray()).toEqual(EXPECTED)
    },
  )

  test('write files in workerd that readers there take', async () => {
    const bytes = streamed('parquet', columns, ROWS)
    const file = bytes.buffer as ArrayBuffer

    const rows = await parquetReadObjects({ file })
    expect(rows).toEqual(EXPECTED)
  })
})
