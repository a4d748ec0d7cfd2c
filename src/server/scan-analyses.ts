/**
 * Runs scans for what they tell of themselves: no row leaves the tablet.
 *
 *   open ──► section ──► section ──► … ──► statistics
 *                 └ others run ┘
 */

import { SCAN_ANALYSIS_COUNT_MAX, SCAN_BATCH_ROW_COUNT } from '../common/limits.ts'
import { StatusError } from '../common/status.ts'
import { addPagesLeftOut, type PageTotals, pageTotalsOf } from '../tablet/scan/page-totals.ts'
import type { TabletScanner } from '../tablet/scan/tablet-scanner.ts'
import type { Tablet } from '../tablet/tablet.ts'
import type { TabletReply } from '../tablet/tablet-request.ts'
import { assert } from '../util/assert.ts'
import type { AnalyzeAnswer, ScanCall, TabletAnswer } from '../wire/tablet-protocol.ts'
import { withValue } from './tablet-answer.ts'

/** Rows that a section looks at before others run, about. */
const SECTION_ROW_COUNT = 131_072
const BATCH_BYTES_MAX = 1_000_000

/** What analyses need of their object. */
export interface AnalysisPorts {
  /** Runs one section of a call's tablet. */
  readonly section: <T>(
    call: ScanCall,
    work: (tablet: Tablet) => TabletReply<T>,
  ) => Promise<TabletAnswer<T>>
  /** Lets other events in. */
  readonly pause: () => Promise<void>
}

/** The analyses that are under way in one object. */
export class ScanAnalyses {
  readonly #ports: AnalysisPorts
  #openCount = 0

  constructor(ports: AnalysisPorts) {
    this.#ports = ports
  }

  /** Scans up to `rowCountMax` rows, and tells what that took. */
  async run(call: ScanCall): Promise<TabletAnswer<AnalyzeAnswer>> {
    if (this.#openCount >= SCAN_ANALYSIS_COUNT_MAX) return tooMany(call)
    const analysis = new ScanAnalysis(call.rowCountMax)
    this.#openCount++
    try {
      const opened = await this.#ports.section(call, (tablet) => analysis.open(tablet, call))
      if (opened.kind !== 'ok') return opened
      for (;;) {
        await this.#ports.pause()
        const answer = await this.#ports.section(call, (tablet) => analysis.goOn(tablet))
        if (answer.kind !== 'ok') return answer
        if (answer.value) return { ...answer, value: analysis.result() }
      }
    } finally {
      this.#openCount--
      analysis.close()
    }
  }
}

/** One scan. */
class ScanAnalysis {
  #tablet: Tablet | null = null
  #scanner: TabletScanner | null = null
  #snapshot = 0
  #totals: PageTotals = new Map()
  #rowsLeft: number
  #isWhole = false

  constructor(rowCountMax: number) {
    this.#rowsLeft = rowCountMax
  }

  open(tablet: Tablet, call: ScanCall): TabletReply<null> {
    const reply = tablet.openScan(call)
    return withValue(reply, ({ snapshot, scanner }) => {
      this.#tablet = tablet
      this.#snapshot = snapshot
      this.#scanner = scanner
      return null
    })
  }

  /** Scans on for a while. Returns: whether it is done. */
  goOn(tablet: Tablet): TabletReply<boolean> {
    const scanner = this.#scanner
    assert(scanner !== null, 'a scan that goes on was opened')
    // The tablet was opened anew, and its files may be others.
    if (tablet !== this.#tablet) throw new StatusError('SERVICE_UNAVAILABLE', 'tablet restarted')
    const end = scanner.scannedCount + SECTION_ROW_COUNT
    let isDone = false
    while (!isDone && scanner.scannedCount < end) {
      const batch =
        this.#rowsLeft === 0
          ? null
          : scanner.nextBatch(Math.min(SCAN_BATCH_ROW_COUNT, this.#rowsLeft), BATCH_BYTES_MAX)
      this.#isWhole = batch === null && this.#rowsLeft > 0
      this.#rowsLeft -= batch?.block.rowCount ?? 0
      isDone = batch === null
    }
    if (isDone) this.#totals = pageTotalsOf(tablet.parts?.rowSets ?? [], scanner.stats)
    return { kind: 'ok', clock: tablet.newestTime, value: isDone }
  }

  result(): AnalyzeAnswer {
    const scanner = this.#scanner
    assert(scanner !== null, 'a scan that is done was opened')
    this.close()
    const { stats } = scanner
    addPagesLeftOut(stats, this.#totals, this.#isWhole)
    return { snapshot: this.#snapshot, stats }
  }

  close(): void {
    this.#scanner?.close()
  }
}

function tooMany({ clock }: ScanCall): TabletAnswer<never> {
  return {
    kind: 'error',
    clock,
    code: 'SERVICE_UNAVAILABLE',
    message: 'tablet has too many scans to analyze',
    details: { limit: SCAN_ANALYSIS_COUNT_MAX, retryable: true },
  }
}
