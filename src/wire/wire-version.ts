/**
 * The version of what fronts and objects say to each other. During a deployment both of two may
 * speak.
 */

import { StatusError } from '../common/status.ts'
import { WIRE_VERSION } from './tablet-protocol.ts'

/**
 * Checks the version of a message. Throws: SERVICE_UNAVAILABLE unless it is ours or the one before.
 */
export function checkWireVersion(wire: number): void {
  if (wire === WIRE_VERSION || wire === WIRE_VERSION - 1) return
  throw new StatusError(
    'SERVICE_UNAVAILABLE',
    `message has version ${wire}, this one speaks ${WIRE_VERSION} and ${WIRE_VERSION - 1}`,
  )
}
