import { assert } from '../../util/assert.ts'

/**
 * Files of one tablet that open scans may still read, each with how many hold it. A commit that
 * leaves a file unreferenced drops it only when it is not pinned; else it is an orphan, for a later
 * commit to drop.
 */
export class FilePins {
  readonly #counts = new Map<number, number>()

  /** Files that are pinned. */
  get fileCount(): number {
    return this.#counts.size
  }

  /** Whether somebody holds a file. */
  isPinned(file: number): boolean {
    return this.#counts.has(file)
  }

  /** Holds files, each as often as it is named, until `unpin` is called with the same. */
  pin(files: readonly number[]): void {
    for (const file of files) this.#counts.set(file, (this.#counts.get(file) ?? 0) + 1)
  }

  /** Undoes one `pin`. */
  unpin(files: readonly number[]): void {
    for (const file of files) {
      const count = this.#counts.get(file) ?? 0
      assert(count > 0, 'an unpinned file was pinned')
      if (count === 1) this.#counts.delete(file)
      else this.#counts.set(file, count - 1)
    }
  }
}
