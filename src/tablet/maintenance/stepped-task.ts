import type { Timestamp } from '../../common/hybrid-clock.ts'
import { assert } from '../../util/assert.ts'
import type { DiskRowSet, RowSetPin } from '../disk/disk-row-set.ts'
import type { FileWriter } from '../file-writer.ts'
import type { StorageChange } from '../storage-change.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceOp, MaintenanceTask } from './maintenance-task.ts'

/** Bounds of a task, for tests. */
export interface TaskLimits {
  /** Bytes of rows that a step reads or writes, about. */
  readonly stepBytes?: number
  /** Rows of a full rowset. */
  readonly rowSetRows?: number
}

/**
 * A task over rowsets, written as one run that pauses: between two steps it stands at a `yield`.
 *
 *   held ──step──► … ──► committed          an input is busy meanwhile, and pinned, so that what
 *     └───────────────► aborted             is read of it stays what it was
 */
export abstract class SteppedTask implements MaintenanceTask {
  abstract readonly op: MaintenanceOp
  readonly summary = {
    rowSetsIn: 0,
    rowSetsOut: 0,
    rowsIn: 0,
    rowsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
  }

  protected readonly parts: TabletParts
  /** Versions that ended at or below it are history that nobody may read. */
  protected mark: Timestamp = 0
  readonly #now: Timestamp
  #run: Generator<void, void> | null = null
  #isOver = false
  #held: DiskRowSet[] = []
  #pins: RowSetPin[] = []
  readonly #files: FileWriter[] = []
  readonly #stepBytesMax: number
  #stepBytes = 0

  constructor(parts: TabletParts, now: Timestamp, { stepBytes }: TaskLimits) {
    this.parts = parts
    this.#now = now
    this.#stepBytesMax = stepBytes ?? parts.layout.stepBytes
  }

  /** The work, from its beginning to the commit. */
  protected abstract run(): Generator<void, void>

  step(): boolean {
    assert(!this.#isOver, 'a task that is over makes no step')
    if (this.#run === null) {
      this.mark = this.parts.ancientHistoryMark(this.#now)
      this.#run = this.run()
    }
    this.#stepBytes = 0
    if (this.#run.next().done !== true) return false
    this.#end()
    return true
  }

  abort(): void {
    if (!this.#isOver) this.#end()
  }

  #end(): void {
    this.#isOver = true
    for (const file of this.#files) file.close()
    this.release()
  }

  /** Whether a rowset is there to be worked on. */
  protected isFree(rowSet: DiskRowSet): boolean {
    return !rowSet.isBusy && this.parts.rowSets.includes(rowSet)
  }

  /** Holds a rowset as it is. */
  protected hold(rowSet: DiskRowSet): RowSetPin {
    rowSet.isBusy = true
    this.#held.push(rowSet)

    const pin = rowSet.pin()
    this.#pins.push(pin)
    return pin
  }

  /** Lets go of all rowsets held. */
  protected release(): void {
    this.#held.forEach((rowSet, index) => {
      const isSame = rowSet.meta === this.#pins[index].view.meta
      assert(isSame, 'nobody else changes the files of a rowset that a task works on')
    })
    for (const pin of this.#pins) pin.release()
    for (const rowSet of this.#held) rowSet.isBusy = false
    this.#pins = []
    this.#held = []
  }

  /** Begins a file. */
  protected beginFile(): FileWriter {
    return this.beginFiles(1)[0]
  }

  /** Begins files in one go. */
  protected beginFiles(count: number): FileWriter[] {
    const files = this.parts.beginFiles(count)
    this.#files.push(...files)
    return files
  }

  /**
   * Makes it all true. The last thing done; the inputs are let go of, so that they can be dropped.
   */
  protected commit(change: StorageChange): void {
    this.release()
    this.parts.commitStorage({ ...change, files: this.#files })
  }

  /** Counts bytes of rows read or written. Returns whether the step has done its share. */
  protected hasWorked(bytes: number): boolean {
    this.#stepBytes += bytes
    return this.#stepBytes >= this.#stepBytesMax
  }
}
