/** Members of the objects in a request's body, which are read one by one and named in errors. */

import { shownValue } from './cell-error.ts'
import { isJsonObject } from './json-object.ts'
import type { Column, Schema } from './schema.ts'
import { invalidArgument } from './status.ts'

/** An object of a request; ask for its members with `memberOf`. */
export type RequestObject = Readonly<Record<string, unknown>>

/**
 * The object at a place of a request.
 *
 * Throws: INVALID_ARGUMENT when it is none, or has a member that is not one of `known`.
 */
export function requestObject(
  value: unknown,
  known: readonly string[],
  place: string,
): RequestObject {
  if (!isJsonObject(value)) throw invalidArgument(`${place} must be an object`)
  for (const member of Object.keys(value)) {
    if (known.includes(member)) continue
    throw invalidArgument(`${place} has an unknown member ${shownText(member)}`)
  }
  return value
}

/** A member, whatever it is, or undefined when the object has none of this name. */
export function memberOf(object: RequestObject, member: string): unknown {
  return Object.hasOwn(object, member) ? object[member] : undefined
}

/** A member that is a string. Throws: INVALID_ARGUMENT. */
export function stringMember(object: RequestObject, member: string, place: string): string {
  const value = memberOf(object, member)
  if (typeof value === 'string') return value
  throw invalidArgument(`${place} needs a string in member "${member}"`)
}

/** The column with a name. Throws: INVALID_ARGUMENT when there is none. */
export function knownColumn(schema: Schema, name: string, place: string): Column {
  const column = schema.byName(name)
  if (column !== undefined) return column
  throw invalidArgument(`${place}: there is no column ${shownText(name)}`, {
    column: shownValue(name.toWellFormed()),
  })
}

/** A text of the client as errors show it. */
export function shownText(text: string): string {
  return JSON.stringify(shownValue(text))
}
