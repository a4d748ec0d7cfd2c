import { PHYSICAL } from '../../common/data-type.ts'
import { decodeKeyCells, successorKey } from '../../common/encoded-key.ts'
import { hashKeys } from '../../common/hash-keys.ts'
import type { Schema } from '../../common/schema.ts'
import { StatusError } from '../../common/status.ts'
import { KeyArena } from '../../util/arena.ts'
import { compareWhole } from '../../util/bytes.ts'

/**
 * Whether `lowerKey` is the only key that can be within bounds. False is not certain.
 *
 *   last column     upper bound
 *   of bytes        the lower one and a zero byte
 *   of one width    the lower one and 1, as a number: longer keys that begin with it there are none
 */
export function isOnlyKey(schema: Schema, lowerKey: Uint8Array, upperKey: Uint8Array): boolean {
  if (lowerKey.length === 0) return false
  const { physical } = schema.columns[schema.keyColumnCount - 1]
  if (physical === PHYSICAL.binary) {
    return (
      upperKey.length === lowerKey.length + 1 &&
      compareWhole(upperKey, successorKey(lowerKey)) === 0
    )
  }
  return isNext(lowerKey, upperKey) && isWholeKey(schema, lowerKey)
}

/** Whether `b` is `a` and 1, as numbers of as many bytes. */
function isNext(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  let carry = 1
  for (let i = a.length - 1; i >= 0; i--) {
    const sum = a[i] + carry
    if (b[i] !== (sum & 0xff)) return false
    carry = sum >>> 8
  }
  return carry === 0
}

function isWholeKey(schema: Schema, key: Uint8Array): boolean {
  try {
    decodeKeyCells(schema.keyColumns, key)
    return true
  } catch (error) {
    if (error instanceof StatusError) return false
    throw error
  }
}

/** The hash of one key. */
export function hashOfKey(key: Uint8Array, seed: number): number {
  const keys = new KeyArena(1, key.length)
  keys.append(key, 0, key.length)
  keys.endKey()
  const hashes = new Uint32Array(1)
  hashKeys(keys, 0, seed, hashes)
  return hashes[0]
}
