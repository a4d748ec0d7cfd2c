/** Fractions of unbounded integers as doubles, and doubles as fractions. */

/** A double is a whole number of these parts of one. */
const PARTS_POWER = 1074
const scratch = new DataView(new ArrayBuffer(8))

/** A finite double times 2^1074. */
export function partsOf(value: number): bigint {
  scratch.setFloat64(0, Math.abs(value))
  const bits = scratch.getBigUint64(0)
  const exponent = Number(bits >> 52n)
  const fraction = bits & ((1n << 52n) - 1n)
  const parts = exponent === 0 ? fraction : (fraction | (1n << 52n)) << BigInt(exponent - 1)
  return value < 0 ? -parts : parts
}

/** The double next to a number of parts, or the one beside it. */
export function numberOfParts(parts: bigint): number {
  return ratioOf(parts, 1n << BigInt(PARTS_POWER))
}

/** The double next to a fraction, or the one beside it. Requires: the bottom is positive. */
export function ratioOf(top: bigint, bottom: bigint): number {
  if (top === 0n) return 0
  const magnitude = top < 0n ? -top : top
  // Enough bits of the quotient, and the power of two that it was multiplied by for them.
  const shift = 64 - (bitCount(magnitude) - bitCount(bottom))
  const quotient =
    shift >= 0 ? (magnitude << BigInt(shift)) / bottom : magnitude / (bottom << BigInt(-shift))
  // In two steps, since one alone may be no double.
  const half = Math.trunc(-shift / 2)
  const value = Number(quotient) * 2 ** half * 2 ** (-shift - half)
  return top < 0n ? -value : value
}

function bitCount(value: bigint): number {
  return value.toString(2).length
}
