import { describe, expect, test } from 'vitest'
import { predicateMatchesCell } from '../../src/common/column-predicate.ts'
import type { Cell } from '../../src/common/data-type.ts'
import { CELL_BYTES_MAX } from '../../src/common/limits.ts'
import { predicatesFromJson, predicatesToJson } from '../../src/common/predicate-request.ts'
import type { Column, Schema } from '../../src/common/schema.ts'
import { DEFAULT_VALUE_OPTIONS, type ValueOptions } from '../../src/common/value-options.ts'
import { fromHex, utf8Encode } from '../../src/util/bytes.ts'
import { Prng } from '../../src/util/prng.ts'
import { aSchema } from '../support/a-schema.ts'
import { boundaryCells, integerEnds } from '../support/boundary-cells.ts'
import { parseJson } from '../support/parse-json.ts'
import { COMPARISONS, type Comparison, plainCompare, plainIn } from '../support/plain-predicate.ts'

/**
 * A literal as JSON, and what it is worth on a scale fine enough to compare it with every cell of
 * its type: billionths for integers and decimals, a rank for floats, bytes for texts.
 */
interface Literal {
  readonly json: string
  readonly worth: Cell
}

interface Kind {
  readonly type: string
  readonly options: ValueOptions
  readonly literals: readonly Literal[]
  /** What a cell is worth on the scale of the literals. */
  readonly worthOf: (cell: Cell) => Cell
}

const BILLION = 10n ** 9n
const OPTIONS_OF_MILLIS: ValueOptions = { int64: 'string', timestamps: 'millis' }

/** Billionths of a decimal text without exponent. */
function billionths(text: string): bigint {
  const [whole, fraction = ''] = text.replace('-', '').split('.')
  const worth = BigInt(whole) * BILLION + BigInt(fraction.padEnd(9, '0'))
  return text.startsWith('-') ? -worth : worth
}

/** Integers around the ends of a type and zero, and what lies between, over and under them. */
function numberLiterals(column: Column, scale: number): Literal[] {
  const [least, greatest] = integerEnds(column)
  const anchors = [least, least + 1n, -1n, 0n, 1n, greatest - 1n, greatest]
  const unit = BILLION / 10n ** BigInt(scale)
  const literals = anchors.flatMap((anchor) => {
    return [-unit, -unit / 4n, 0n, unit / 4n, unit].map((offset): Literal => {
      const worth = anchor * unit + offset
      return { json: decimalText(worth), worth }
    })
  })
  const huge = 10n ** 60n
  const written: [string, bigint][] = [
    ['1e0', BILLION],
    ['1.0', BILLION],
    ['-0', 0n],
    ['25e-2', BILLION / 4n],
    ['1e-400', 1n],
    ['-1e-400', -1n],
    ['1e400', huge],
    ['-1e999999999', -huge],
  ]
  return [...literals, ...written.map(([json, worth]) => ({ json, worth }))]
}

function decimalText(worth: bigint): string {
  const digits = String(worth < 0n ? -worth : worth).padStart(10, '0')
  const fraction = digits.slice(-9).replace(/0+$/, '')
  const text = digits.slice(0, -9) + (fraction === '' ? '' : `.${fraction}`)
  return worth < 0n ? `-${text}` : text
}

function integerKind(type: string): Kind {
  const [column] = aSchema(`x ${type} KEY`).columns
  const scale = column.attributes.scale ?? 0
  const unit = BILLION / 10n ** BigInt(scale)
  return {
    type,
    options: DEFAULT_VALUE_OPTIONS,
    literals: numberLiterals(column, scale),
    worthOf: (cell) => BigInt(cell as number | bigint) * unit,
  }
}

/** Timestamps in billionths of a microsecond. */
function timestampKind(): Kind {
  const kind = integerKind('UNIXTIME_MICROS')
  const texts: [string, string][] = [
    ['1970-01-01T00:00:00Z', '0'],
    ['1970-01-01T00:00:00.000001Z', '1'],
    ['1970-01-01T00:00:00.0000015Z', '1.5'],
    ['1970-01-01T01:00:00.000002+01:00', '2'],
    ['1969-12-31T23:59:59.9999985Z', '-1.5'],
    ['1969-12-31T23:59:59.999999Z', '-1'],
  ]
  const written = texts.map(([text, micros]) => {
    return { json: JSON.stringify(text), worth: billionths(micros) }
  })
  return { ...kind, literals: [...kind.literals, ...written] }
}

/** Timestamps from milliseconds: literals are worth a thousand times as much. */
function millisKind(): Kind {
  const texts = ['0', '0.001', '-0.001', '0.0005', '0.002', '9223372036854775.807', '1e30', '-1e30']
  const literals = texts.map((json) => {
    const plain = json.replace(/e30$/, '0'.repeat(30))
    return { json, worth: billionths(plain) * 1000n }
  })
  return { ...integerKind('UNIXTIME_MICROS'), options: OPTIONS_OF_MILLIS, literals }
}

function dateKind(): Kind {
  const days: [string, bigint][] = [
    ['0000-12-31', -719_163n],
    ['0001-01-01', -719_162n],
    ['0001-01-02', -719_161n],
    ['1969-12-31', -1n],
    ['1970-01-01', 0n],
    ['1970-01-02', 1n],
    ['9999-12-30', 2_932_895n],
    ['9999-12-31', 2_932_896n],
  ]
  const literals = days.map(([text, worth]) => ({ json: `"${text}"`, worth }))
  const worthOf = (cell: Cell) => BigInt(cell as number)
  return { type: 'DATE', options: DEFAULT_VALUE_OPTIONS, literals, worthOf }
}

function boolKind(): Kind {
  const literals = [false, true].map((value) => ({ json: String(value), worth: Number(value) }))
  return { type: 'BOOL', options: DEFAULT_VALUE_OPTIONS, literals, worthOf: (cell) => cell }
}

const doubleBits = new DataView(new ArrayBuffer(8))

/** An even integer that orders as floats do; NaN stays what it is. */
function rank(cell: number): Cell {
  if (Number.isNaN(cell)) return cell
  doubleBits.setFloat64(0, Math.abs(cell))
  const bits = doubleBits.getBigInt64(0) * 2n
  return cell < 0 ? -bits : bits
}

/** Finite literals beyond the finite cells lie between the greatest of these and infinity. */
function floatKind(type: 'FLOAT' | 'DOUBLE'): Kind {
  const isFloat = type === 'FLOAT'
  const greatest = isFloat ? (2 - 2 ** -23) * 2 ** 127 : Number.MAX_VALUE
  const texts = ['0', '-0', '1.5', '-1.5', '0.1', '5e-324', '1e-400', '-1e-400', '1e-45', '3.4e38']
  const finite = texts.map((json): Literal => {
    return { json, worth: rank(isFloat ? Math.fround(Number(json)) : Number(json)) }
  })
  const named = ['NaN', 'Infinity', '-Infinity'].map((name): Literal => {
    return { json: `"${name}"`, worth: rank(Number(name)) }
  })
  const overGreatest = (rank(greatest) as bigint) + 1n
  const beyond = (isFloat ? ['1e39', '1e400'] : ['1e309', '1e999']).flatMap((json): Literal[] => [
    { json, worth: overGreatest },
    { json: `-${json}`, worth: -overGreatest },
  ])
  return {
    type,
    options: DEFAULT_VALUE_OPTIONS,
    literals: [...finite, ...named, ...beyond],
    worthOf: (cell) => rank(Number(cell)),
  }
}

function textKind(type: string): Kind {
  const long = 'a'.repeat(CELL_BYTES_MAX)
  const texts = ['', '\0', 'a', 'a\0', 'ab', 'abc', 'b', 'é', 'é\0\0', '\u{ffff}', '\u{1f600}']
  const literals = [...texts, long, `${long}b`, `${long.slice(1)}é`].map((text) => {
    return { json: JSON.stringify(text), worth: utf8Encode(text) }
  })
  return { type, options: DEFAULT_VALUE_OPTIONS, literals, worthOf: (cell) => cell }
}

function binaryKind(): Kind {
  const long = 'ff'.repeat(CELL_BYTES_MAX)
  const values = ['', '00', '0000', '61', '6100', 'fe', 'ff', 'ff00', 'ffff', long, `${long}00`]
  const literals = values.map((hex) => {
    const worth = fromHex(hex)
    return { json: JSON.stringify(Buffer.from(worth).toString('base64')), worth }
  })
  return { type: 'BINARY', options: DEFAULT_VALUE_OPTIONS, literals, worthOf: (cell) => cell }
}

const KINDS: readonly Kind[] = [
  ...['INT8', 'INT16', 'INT32', 'INT64', 'DECIMAL(1)', 'DECIMAL(4,2)'].map(integerKind),
  ...['DECIMAL(9)', 'DECIMAL(18,4)', 'DECIMAL(38,3)', 'DECIMAL(3,3)'].map(integerKind),
  timestampKind(),
  millisKind(),
  dateKind(),
  boolKind(),
  floatKind('FLOAT'),
  floatKind('DOUBLE'),
  textKind('STRING'),
  textKind('VARCHAR(2)'),
  binaryKind(),
]

interface Request {
  readonly text: string
  readonly accepts: (cell: Cell | null) => boolean
}

function drawRequest(kind: Kind, prng: Prng): Request {
  const { literals, worthOf } = kind
  const isText = literals[0].worth instanceof Uint8Array
  const literal = prng.pick(literals)
  const form = prng.below(isText ? 9 : 8)
  if (form < COMPARISONS.length) {
    const op: Comparison = COMPARISONS[form]
    return {
      text: `{"column":"x","op":"${op}","value":${literal.json}}`,
      accepts: (cell) => cell !== null && plainCompare(worthOf(cell), op, literal.worth),
    }
  }
  if (form === 5) {
    const listed = Array.from({ length: prng.below(6) }, () => prng.pick(literals))
    const worths = listed.map(({ worth }) => worth)
    return {
      text: `{"column":"x","op":"in","values":[${listed.map(({ json }) => json)}]}`,
      accepts: (cell) => cell !== null && plainIn(worthOf(cell), worths),
    }
  }
  if (form === 8) {
    const prefix = Buffer.from(literal.worth as Uint8Array)
    return {
      text: `{"column":"x","op":"starts with","value":${literal.json}}`,
      accepts: (cell) => {
        const bytes = cell as Uint8Array | null
        return bytes !== null && prefix.equals(bytes.subarray(0, prefix.length))
      },
    }
  }
  return form === 6
    ? { text: '{"column":"x","op":"Is Null"}', accepts: (cell) => cell === null }
    : { text: '{"column":"x","op":"Is Not Null"}', accepts: (cell) => cell !== null }
}

/** Whether the cells satisfy what the text of requests reads as. */
function answers(
  schema: Schema,
  text: string,
  cells: readonly (Cell | null)[],
  options: ValueOptions,
): boolean[] {
  const column = schema.mustById(schema.byName('x')?.id ?? -1)
  const predicates = predicatesFromJson(schema, parseJson(text), options)
  return cells.map((cell) => predicates.every((it) => predicateMatchesCell(column, it, cell)))
}

describe.each(KINDS)(
  'predicates of requests on $type, timestamps as $options.timestamps',
  (kind) => {
    test.each(['', ' NULL', ' KEY'])(
      'accept exactly what arithmetic says, and mean the same once shown and read again%s',
      (attribute) => {
        const isNoKey = ['BOOL', 'FLOAT', 'DOUBLE'].includes(kind.type)
        if (attribute === ' KEY' && isNoKey) return expect(isNoKey).toBe(true)
        const columns = [`x ${kind.type}${attribute}`]
        const schema = aSchema(...(attribute === ' KEY' ? columns : ['k INT8 KEY', ...columns]))
        const column = schema.columns[schema.columns.length - 1]
        const cells = [...boundaryCells(column), ...(column.isNullable ? [null] : [])]
        const wrong: string[] = []

        for (let seed = 1; seed <= 150; seed++) {
          const prng = new Prng(seed)
          const requests = Array.from({ length: prng.between(1, 3) }, () => drawRequest(kind, prng))
          const text = `[${requests.map((it) => it.text)}]`
          const expected = cells.map((cell) => requests.every((it) => it.accepts(cell)))
          const read = predicatesFromJson(schema, parseJson(text), kind.options)
          const shown = predicatesToJson(schema, read, kind.options)
          const found = answers(schema, text, cells, kind.options)
          const again = answers(schema, shown, cells, kind.options)
          cells.forEach((cell, i) => {
            if (found[i] === expected[i] && again[i] === expected[i]) return
            const where = `${String(cell)} ${text.slice(0, 200)} ${shown.slice(0, 200)}`
            wrong.push(`seed ${seed}: ${found[i]} ${again[i]} for ${where}`)
          })
        }

        expect(wrong).toEqual([])
      },
    )
  },
)
