/**
 * Comparing and flooring decimals without any rounding. For edges and rare ties: it uses bigint.
 */

import { numberScan } from './fixed-point.ts'

const POINT = 0x2e

const scratchBits = new DataView(new ArrayBuffer(8))

/**
 * Orders digits × 10^exponent and a double: negative, zero or positive.
 *
 * Requires: the digits neither begin nor end with a zero; `value` is finite and above 0. Cost:
 * O(digits), with no big number made of them.
 */
export function compareDecimal(digits: string, exponent: number, value: number): number {
  scratchBits.setFloat64(0, value)
  const bits = scratchBits.getBigUint64(0)
  const biased = Number(bits >> 52n)
  const fraction = bits & 0xf_ffff_ffff_ffffn
  const mantissa = biased === 0 ? fraction : fraction | 0x10_0000_0000_0000n
  const power = Math.max(biased, 1) - 1075
  // m × 2^−n is m × 5^n × 10^−n.
  const whole = power >= 0 ? mantissa << BigInt(power) : mantissa * 5n ** BigInt(-power)
  const padded = whole.toString()
  const valueDigits = padded.replace(/0+$/, '')
  const valueEnd = padded.length + (power >= 0 ? 0 : power)
  const digitsEnd = digits.length + exponent
  if (digitsEnd !== valueEnd) return digitsEnd - valueEnd
  if (digits === valueDigits) return 0
  return digits < valueDigits ? -1 : 1
}

/** The digits that `numberScan` found in `bytes`, the point left out. */
export function scannedDigits(bytes: Uint8Array): string {
  let digits = ''
  for (let i = numberScan.digitsStart; i < numberScan.digitsEnd; i++) {
    if (bytes[i] !== POINT) digits += String.fromCharCode(bytes[i])
  }
  return digits
}

/** An integer at or just under a decimal. */
export interface Floor {
  readonly floor: bigint
  readonly isExact: boolean
}

/**
 * The greatest integer not above the number that `numberScan` found in `bytes`, times 10^scale.
 *
 * Returns: undefined when that has more than `digitsMax` digits; `numberScan.isNegative` tells the
 * side.
 */
export function floorScaled(
  bytes: Uint8Array,
  scale: number,
  digitsMax: number,
): Floor | undefined {
  const { digitCount, isNegative } = numberScan
  if (digitCount === 0) return { floor: 0n, isExact: true }
  const zeros = numberScan.exponent + scale
  const wholeDigits = digitCount + zeros
  if (wholeDigits > digitsMax) return undefined
  const isExact = zeros >= 0
  let magnitude = 0n
  if (wholeDigits > 0) {
    const digits = scannedDigits(bytes)
    magnitude = BigInt(isExact ? digits + '0'.repeat(zeros) : digits.slice(0, wholeDigits))
  }
  if (!isNegative) return { floor: magnitude, isExact }
  return { floor: isExact ? -magnitude : -magnitude - 1n, isExact }
}
