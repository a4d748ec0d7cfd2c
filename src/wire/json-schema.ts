/**
 * Pieces of which the schemas of requests and responses are made. Each says what it wants as the
 * end of a sentence that begins with the member's name: `must be a string`.
 */

import { z } from 'zod'
import { NumberLiteral } from '../common/number-literal.ts'

// Compiling schemas to code is faster, and forbidden on the platform.
z.config({ jitless: true })

/** A string. */
export function text(): z.ZodString {
  return z.string('must be a string')
}

/** `true` or `false`. */
export function flag(): z.ZodBoolean {
  return z.boolean('must be true or false')
}

/** An integer in `[min, max]`; in requests written in any way that is exact. */
export function integer(min: number, max: number) {
  const rule = `must be an integer from ${min} to ${max}`
  return z.preprocess(plainNumber, z.int(rule).min(min, rule).max(max, rule))
}

/** One of a few words, in any case. */
export function word<const Words extends readonly [string, ...string[]]>(words: Words) {
  const rule = `must be one of ${words.join(', ')}`
  return z.preprocess(upperCase, z.enum(words, rule))
}

/** A list. */
export function list<Element extends z.ZodType>(element: Element): z.ZodArray<Element> {
  return z.array(element, 'must be an array')
}

/** An object with these members and no others. */
export function members<Shape extends z.ZodRawShape>(shape: Shape) {
  // A number that was kept as its text is an object only to the program.
  return z.preprocess(plainNumber, z.strictObject(shape, 'must be an object'))
}

/** Any JSON value; what it may be depends on the table. */
export function anyValue(description: string) {
  return z.unknown().meta({ description })
}

/** A row, or a part of one, in a request by column name; read and checked by the table's schema. */
export function cellsByName(description: string) {
  return z
    .unknown()
    .refine((value) => value !== undefined, 'must be an object')
    .meta({ description, type: 'object', additionalProperties: true })
}

/** A row, or a part of one, in a response by column name. */
export function shownCells(description: string) {
  return z.record(z.string(), z.unknown()).meta({ description })
}

/** A hybrid-clock timestamp in a response. */
export function timestamp(description = 'microseconds since the epoch') {
  return z.int().meta({ description, format: 'int64' })
}

function plainNumber(value: unknown): unknown {
  return value instanceof NumberLiteral ? Number(value.text) : value
}

function upperCase(value: unknown): unknown {
  return typeof value === 'string' ? value.toUpperCase() : value
}
