/**
 * Whether each of `numbers[start, end)` is the one behind the one before it, so that what they name
 * can be copied as one stretch. Requires: there is one. Cost: mostly that of a look at both ends.
 */
export function isRun(numbers: Uint32Array | Int32Array, start: number, end: number): boolean {
  const shift = numbers[start] - start
  if (numbers[end - 1] - end + 1 !== shift) return false
  for (let i = start; i < end; i++) if (numbers[i] - i !== shift) return false
  return true
}
