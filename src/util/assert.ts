/** Thrown when the program itself is wrong. Never caught below the object that owns the state. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/**
 * Throws an AssertionError unless `condition` holds.
 *
 * Requires: `message` is a constant; a template literal costs more than the check (docs/STYLE.md).
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

/**
 * Marks a branch that the types rule out. Throws an AssertionError when it is reached all the same.
 */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable value ${String(value)}`)
}
