import type { Timestamp } from '../../common/hybrid-clock.ts'
import type { MemoryAccountant } from '../memory-accountant.ts'
import type { TabletParts } from '../tablet-parts.ts'
import type { MaintenanceStatus, RequestReport } from './maintenance-status.ts'
import type { MaintenanceOp } from './maintenance-task.ts'

/** What a manager is given. */
export interface MaintenanceOptions {
  readonly parts: TabletParts
  readonly accountant: MemoryAccountant
  /**
   * Runs one transaction of the tablet's store. What it throws but a StatusError leaves the tablet
   * unusable.
   */
  readonly transact: <T>(work: () => T) => T
}

/** Decides which maintenance ops a tablet needs, and runs them step by step. */
export class MaintenanceManager {
  readonly #options: MaintenanceOptions

  constructor(options: MaintenanceOptions) {
    this.#options = options
  }

  /** When the manager next wants to be stepped; at or before `now`: at once; null: not as it is. */
  due(_now: Timestamp): Timestamp | null {
    return null
  }

  /** Runs one step of the op that matters most. Returns: whether there is more to do at once. */
  step(_now: Timestamp): { readonly isBusy: boolean } {
    void this.#options
    return { isBusy: false }
  }

  /**
   * Asks for an op, which later steps run until there is none of it left to do. `id` names the
   * request: asked again it tells how far that one is, and begins nothing.
   */
  request(op: MaintenanceOp, _id: string, _now: Timestamp): RequestReport {
    const summary = { rowSetsIn: 0, rowSetsOut: 0, rowsIn: 0, rowsOut: 0, bytesIn: 0, bytesOut: 0 }
    return { op, isDone: true, runCount: 0, summary }
  }

  /** What it does and would do. */
  status(_now: Timestamp): MaintenanceStatus {
    return { scores: [], running: [], lastRuns: [], heldBackUntil: null }
  }
}
