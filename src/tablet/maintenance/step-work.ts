/**
 * Work that is done in bounded steps, written as one function: it yields what each piece of it came
 * to, in bytes, and may be interrupted there.
 */
export type StepWork<Result = void> = Generator<number, Result, void>

/** Goes on with some work until `bytesMax` are done. Returns: whether it is at its end. */
export function runStep(work: StepWork, bytesMax: number): boolean {
  for (let bytes = 0; bytes < bytesMax; ) {
    const piece = work.next()
    if (piece.done === true) return true
    bytes += piece.value
  }
  return false
}
