/** FLOAT by the book: slow, in unbounded integers, sharing no code with what it judges. */

/** A rational number ≥ 0. */
interface Ratio {
  readonly top: bigint
  readonly bottom: bigint
}

const scratch = new DataView(new ArrayBuffer(4))

/** The FLOAT above 0 (or infinity) with these bits. */
export function floatOfBits(bits: number): number {
  scratch.setUint32(0, bits)
  return scratch.getFloat32(0)
}

function bitsOfFloat(float: number): number {
  scratch.setFloat32(0, float)
  return scratch.getUint32(0)
}

/** A FLOAT's exact value, where one past the greatest stands for infinity. */
function ratioOfBits(bits: number): Ratio {
  const biased = bits >>> 23
  const mantissa = BigInt(biased === 0 ? bits & 0x7f_ffff : (bits & 0x7f_ffff) | 0x80_0000)
  const power = Math.max(biased, 1) - 150
  return power >= 0
    ? { top: mantissa << BigInt(power), bottom: 1n }
    : { top: mantissa, bottom: 1n << BigInt(-power) }
}

function ratioOfDecimal(digits: bigint, exponent: number): Ratio {
  return exponent >= 0
    ? { top: digits * 10n ** BigInt(exponent), bottom: 1n }
    : { top: digits, bottom: 10n ** BigInt(-exponent) }
}

function compare(a: Ratio, b: Ratio): number {
  const difference = a.top * b.bottom - b.top * a.bottom
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

function middle(a: Ratio, b: Ratio): Ratio {
  return { top: a.top * b.bottom + b.top * a.bottom, bottom: 2n * a.bottom * b.bottom }
}

/** Whether digits × 10^exponent rounds to the FLOAT with these bits, ties to even. */
function roundsTo(digits: bigint, exponent: number, bits: number): boolean {
  const value = ratioOfDecimal(digits, exponent)
  const isEven = bits % 2 === 0
  const above = compare(value, middle(ratioOfBits(bits), ratioOfBits(bits + 1)))
  if (above > 0 || (above === 0 && !isEven)) return false
  if (bits === 0) return true
  const below = compare(value, middle(ratioOfBits(bits), ratioOfBits(bits - 1)))
  return below > 0 || (below === 0 && isEven)
}

/** The shortest text, and of those the nearest, that rounds to a FLOAT above 0. */
export function shortestFloatText(float: number): string {
  const bits = bitsOfFloat(float)
  const { top, bottom } = ratioOfBits(bits)
  const decade = Number(float.toExponential(20).split('e')[1])
  for (let count = 1; ; count++) {
    const exponent = decade - count + 1
    const { top: unitTop, bottom: unitBottom } = ratioOfDecimal(1n, exponent)
    const floor = (top * unitBottom) / (bottom * unitTop)
    const twiceRest = 2n * (top * unitBottom - floor * bottom * unitTop)
    const isUpper =
      twiceRest > bottom * unitTop || (twiceRest === bottom * unitTop && floor % 2n === 1n)
    const order = isUpper ? [floor + 1n, floor] : [floor, floor + 1n]
    const found = order.find((digits) => digits > 0n && roundsTo(digits, exponent, bits))
    // A double tells decimals of nine digits apart, so ECMAScript lays out the digits found.
    if (found !== undefined) return String(Number(`${found}e${exponent}`))
  }
}

/** The FLOAT to which digits × 10^exponent rounds; infinity included. Requires: digits > 0. */
export function nearestFloat(digits: bigint, exponent: number): number {
  const guess = bitsOfFloat(Math.min(Number(`${digits}e${exponent}`), floatOfBits(0x7f7f_ffff)))
  for (let bits = Math.max(guess - 2, 0); bits <= guess + 2 && bits < 0x7f80_0000; bits++) {
    if (roundsTo(digits, exponent, bits)) return floatOfBits(bits)
  }
  return Number.POSITIVE_INFINITY
}

/**
 * The exact decimal halfway between the FLOAT with these bits and the next one, as digits and
 * exponent.
 */
export function halfwayAbove(bits: number): { digits: bigint; exponent: number } {
  const { top, bottom } = middle(ratioOfBits(bits), ratioOfBits(bits + 1))
  // The bottom is a power of two: 2^−n is 5^n × 10^−n.
  const power = bottom.toString(2).length - 1
  return { digits: top * 5n ** BigInt(power), exponent: -power }
}
