/** What scans hold in the fronts and objects of a test's isolate, seen from outside. */

import { vi } from 'vitest'
import { FrontMemory } from '../../src/api/front-memory.ts'
import { ScanStreams } from '../../src/server/scan-streams.ts'
import { FilePins } from '../../src/tablet/disk/file-pins.ts'

/** What is held. */
export interface Held {
  /** Streams of tablets that are not at their end. */
  readonly streams: number
  /** Files that open scans keep. */
  readonly files: number
  /** Bytes that requests took of their front's memory. */
  readonly frontBytes: number
}

/** Nothing at all. */
export const NOTHING_HELD: Held = { streams: 0, files: 0, frontBytes: 0 }

/** Looks at everything that takes something from now on, until mocks are restored. */
export class ResourceWatch {
  readonly #opened = vi.spyOn(ScanStreams.prototype, 'open')
  readonly #pinned = vi.spyOn(FilePins.prototype, 'pin')
  readonly #lent = vi.spyOn(FrontMemory.prototype, 'open')

  /** Times that a tablet opened a stream. */
  get streamCount(): number {
    return this.#opened.mock.calls.length
  }

  /** Times that a scan pinned the files of a rowset. */
  get pinCount(): number {
    return this.#pinned.mock.calls.length
  }

  /** What is held now. */
  get held(): Held {
    return {
      streams: total<ScanStreams>(this.#opened.mock.contexts, ({ openCount }) => openCount),
      files: total<FilePins>(this.#pinned.mock.contexts, ({ fileCount }) => fileCount),
      frontBytes: total<FrontMemory>(this.#lent.mock.contexts, ({ heldBytes }) => heldBytes),
    }
  }
}

function total<T>(owners: readonly unknown[], count: (owner: T) => number): number {
  return [...new Set(owners as readonly T[])].reduce((sum, owner) => sum + count(owner), 0)
}
