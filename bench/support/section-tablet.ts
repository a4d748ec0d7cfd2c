import type { Timestamp } from '../../src/common/hybrid-clock.ts'
import type { TabletClock } from '../../src/tablet/tablet-clock.ts'
import { writeShare } from '../../src/tablet/write-section.ts'
import { assert } from '../../src/util/assert.ts'
import { BenchTablet } from './bench-tablet.ts'
import { partsOf } from './parts.ts'

/** A tablet whose writes begin at the write section, with a clock that is not the tablet's own. */
export class SectionTablet extends BenchTablet {
  sectionClock: TabletClock | null = null

  /** Reads see what was written by the other clock. */
  override get request() {
    const clock: Timestamp = this.tablet.lastApplied
    return { ...super.request, clock }
  }

  override writeBytes(block: Uint8Array): void {
    const clock = this.sectionClock
    assert(clock !== null, 'a section has a clock')
    const request = { ...super.request, block, resultKey: null }
    const context = { parts: partsOf(this), clock, accountant: this.accountant }
    const { failed } = writeShare(context, request)
    if (failed > 0) throw new Error(`${failed} rows failed`)
  }
}
