/**
 * Rules for what is said about a table beside its columns and partitions: names, owner, comment.
 */

import { COMMENT_BYTES_MAX, NAME_BYTES_MAX, OWNER_BYTES_MAX } from '../common/limits.ts'
import { invalidArgument } from '../common/status.ts'
import { utf8Encode } from '../util/bytes.ts'

/** Segments that who reads a URL takes for steps in its path, however they are encoded. */
const DOT_SEGMENTS: readonly string[] = ['.', '..']
const ID = /^[0-9a-fA-F]{32}$/

/**
 * Whether a text has the form of an id, which no name may have: a path segment names a table by
 * either.
 */
export function isTableId(text: string): boolean {
  return ID.test(text)
}

/** Checks a table's name. Throws: INVALID_ARGUMENT naming the rule that it breaks. */
export function validateTableName(name: string): void {
  if (name.length === 0) throw invalidArgument('table name is empty')
  checkText('table name', name, NAME_BYTES_MAX)
  if (DOT_SEGMENTS.includes(name)) {
    throw invalidArgument(`table name is "${name}", which no path of a URL can hold`)
  }
  if (isTableId(name)) {
    throw invalidArgument('table name is 32 hexadecimal digits, which is the form of a table id')
  }
}

/** Checks a table's owner; '' is nobody. Throws: INVALID_ARGUMENT. */
export function validateOwner(owner: string): void {
  checkText('owner', owner, OWNER_BYTES_MAX)
}

/** Checks a table's comment. Throws: INVALID_ARGUMENT. */
export function validateComment(comment: string): void {
  checkText('comment', comment, COMMENT_BYTES_MAX)
}

function checkText(what: string, text: string, bytesMax: number): void {
  if (!text.isWellFormed()) throw invalidArgument(`${what} is not valid Unicode`)
  if (text.includes('\0')) throw invalidArgument(`${what} holds a NUL character`)
  const bytes = utf8Encode(text).length
  if (bytes > bytesMax) {
    throw invalidArgument(`${what} is ${bytes} bytes, limit is ${bytesMax}`, { limit: bytesMax })
  }
}
