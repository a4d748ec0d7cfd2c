/** The text that stands for null in CSV. */

import { NAME_BYTES_MAX } from '../../common/limits.ts'
import { invalidArgument } from '../../common/status.ts'
import { utf8Encode } from '../../util/bytes.ts'

/**
 * The bytes of a text that may stand for null in CSV.
 *
 * Throws: INVALID_ARGUMENT for what an unquoted field cannot hold, and for what is longer than a
 * name.
 */
export function encodeNullText(text: string): Uint8Array {
  if (/[",\r\n]/.test(text) || !text.isWellFormed()) {
    throw invalidArgument('null text has a comma, a quote, a line break or half a character')
  }
  const bytes = utf8Encode(text)
  if (bytes.length > NAME_BYTES_MAX) {
    throw invalidArgument(`null text is ${bytes.length} bytes, limit is ${NAME_BYTES_MAX}`)
  }
  return bytes
}
