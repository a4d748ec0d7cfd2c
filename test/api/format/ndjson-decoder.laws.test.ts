import { describe, expect, test } from 'vitest'
import { concatBytes, utf8Decode, utf8Encode } from '../../../src/util/bytes.ts'
import { Prng } from '../../../src/util/prng.ts'
import { decodeNdjson, shownRow } from '../../support/decode-rows.ts'
import { plainLines } from '../../support/plain-rows.ts'
import { mutated } from '../../support/random-json.ts'
import { EVERY_TYPE, randomRow } from '../../support/random-rows.ts'

/** What a decoder must make of a body: rows by number, refused ones alone. */
function expected(body: Uint8Array): string[] {
  const { rows, failedLine } = plainLines(EVERY_TYPE, body)
  const shown = rows.map(
    (cells, index) => `${index}: ${cells === null ? 'refused' : shownRow(cells)}`,
  )
  return failedLine === null ? shown : [...shown, `failed at line ${failedLine}`]
}

function decoded(body: Uint8Array, cuts: readonly number[]): string[] {
  const { rows, problems, failure } = decodeNdjson(EVERY_TYPE, body, { cuts })
  const shown: string[] = []
  for (const { index, cells } of rows) shown[index] = `${index}: ${shownRow(cells)}`
  for (const [index] of problems) shown[index] = `${index}: refused`
  const line = failure === null ? undefined : /^line (\d+): /.exec(failure)?.[1]
  return failure === null ? shown : [...shown, `failed at line ${line}`]
}

function randomCuts(prng: Prng, length: number): number[] {
  const count = prng.pick([0, 0, 1, 3, 20])
  return Array.from({ length: count }, () => prng.below(length + 1)).sort((a, b) => a - b)
}

function randomBody(prng: Prng, rowCountMax: number): string {
  const style = { isRegular: prng.chance(0.7), hasSpace: prng.chance(0.3) }
  const lines = Array.from({ length: prng.below(rowCountMax) }, () => {
    return prng.chance(0.05) ? prng.pick(['', ' ', '\r']) : randomRow(prng, EVERY_TYPE, style)
  })
  return lines.join(prng.pick(['\n', '\r\n'])) + prng.pick(['', '\n'])
}

const REGULAR = { isRegular: true, hasSpace: false }

/** A row that is no JSON any more, as a rule. */
function brokenRow(prng: Prng): Uint8Array {
  const row = randomRow(prng, EVERY_TYPE, REGULAR)
  if (prng.chance(0.7)) return mutated(prng, row)
  const instead = prng.pick([':0$1', ':-', ':+$1', ':$1.', ':.$1', ':$1e', ':tru', ':nul', ':$1,,'])
  return utf8Encode(row.replace(/:(\d)/, instead))
}

describe('NdjsonDecoder', () => {
  test('reads every line as JSON.parse and the rules for values do', () => {
    for (let seed = 0; seed < 90; seed++) {
      const prng = new Prng(seed)
      const body = utf8Encode(randomBody(prng, 30))

      const cuts = randomCuts(prng, body.length)
      expect(decoded(body, cuts), `seed ${seed}: ${utf8Decode(body)}`).toEqual(expected(body))
    }
  })

  test('fails at the line at which JSON.parse fails, with the rows before it', () => {
    let failed = 0
    for (let seed = 1000; seed < 1240; seed++) {
      const prng = new Prng(seed)
      const good = randomBody(prng, 5).replace(/[^\n]$/, '$&\n')
      const body = concatBytes(
        utf8Encode(good),
        brokenRow(prng),
        utf8Encode(`\n${randomRow(prng, EVERY_TYPE, REGULAR)}`),
      )
      const result = decoded(body, randomCuts(prng, body.length))
      if (result.at(-1)?.startsWith('failed') === true) failed++

      expect(result, `seed ${seed}: ${utf8Decode(body)}`).toEqual(expected(body))
    }
    expect(failed).toBeGreaterThan(60)
  })

  test('gives the same rows and the same failure however the body is cut', () => {
    const prng = new Prng(51)
    const rows = Array.from({ length: 4 }, () => randomRow(prng, EVERY_TYPE, REGULAR))
    const body = utf8Encode(`${rows.join('\n')}\n\n5\n{"key":1,"k2":"é😀"}\n{"key":2x}\n${rows[0]}`)
    const whole = decodeNdjson(EVERY_TYPE, body)

    expect(whole.failure).toMatch(/^line 8: /)
    for (let cut = 0; cut <= body.length; cut += 5) {
      expect(decodeNdjson(EVERY_TYPE, body, { cuts: [cut] }), `cut at ${cut}`).toEqual(whole)
    }
    const everywhere = Array.from(body, (_, index) => index)
    expect(decodeNdjson(EVERY_TYPE, body, { cuts: everywhere })).toEqual(whole)
  })
})
