/** Bits of a quotient, more than a double holds, so that what is cut off only breaks ties. */
const QUOTIENT_BITS = 66

/** The double nearest to a fraction. Requires: `divisor` is above 0. For edges: it uses bigint. */
export function ratioToDouble(dividend: bigint, divisor: bigint): number {
  if (dividend === 0n) return 0
  const magnitude = dividend < 0n ? -dividend : dividend
  const shift = Math.max(0, QUOTIENT_BITS + bitLength(divisor) - bitLength(magnitude))
  const shifted = magnitude << BigInt(shift)
  let quotient = shifted / divisor
  if (quotient * divisor !== shifted) quotient |= 1n
  const value = Number(quotient) * 2 ** -shift
  return dividend < 0n ? -value : value
}

function bitLength(value: bigint): number {
  return value.toString(16).length * 4
}
