import { describe, expect, test } from 'vitest'
import { utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { decodeNdjson, shownRow } from '../../support/decode-rows.ts'
import { plainLines } from '../../support/plain-rows.ts'
import { EVERY_TYPE, randomRow } from '../../support/random-rows.ts'

describe('NdjsonDecoder', () => {
  test('reads in workerd every line as JSON.parse and the rules for values do', () => {
    for (let seed = 0; seed < 30; seed++) {
      const prng = new Prng(seed)
      const style = { isRegular: prng.chance(0.7), hasSpace: prng.chance(0.3) }
      const lines = Array.from({ length: 20 }, () => randomRow(prng, EVERY_TYPE, style))
      const body = utf8Encode(lines.join('\n'))
      const cuts = Array.from({ length: 5 }, () => prng.below(body.length)).sort((a, b) => a - b)
      const { rows, problems, failure } = decodeNdjson(EVERY_TYPE, body, { cuts })
      const got: string[] = []
      for (const { index, cells } of rows) got[index] = shownRow(cells)
      for (const [index] of problems) got[index] = 'refused'
      const want = plainLines(EVERY_TYPE, body).rows.map((cells) => {
        return cells === null ? 'refused' : shownRow(cells)
      })

      expect(failure).toBeNull()
      expect(got, `seed ${seed}`).toEqual(want)
    }
  })
})
