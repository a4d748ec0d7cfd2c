/**
 * Aggregations of a tablet, a section at a time: between two of them others run, so that no write
 * waits for long.
 */

import { AGGREGATE_OPEN_COUNT_MAX, MESSAGE_BYTES_MAX } from '../common/limits.ts'
import type { RowBlock } from '../common/row-block.ts'
import { invalidArgument, StatusError } from '../common/status.ts'
import type { AggregateRun } from '../tablet/aggregate/aggregate-run.ts'
import type { Tablet } from '../tablet/tablet.ts'
import type { TabletReply } from '../tablet/tablet-request.ts'
import { assert } from '../util/assert.ts'
import { concatBytes } from '../util/bytes.ts'
import { ScanFrameWriter } from '../wire/scan-frame.ts'
import type { AggregateAnswer, AggregateCall, TabletAnswer } from '../wire/tablet-protocol.ts'
import { withValue } from './tablet-answer.ts'

/** Bytes of frames that fit one message beside what else is in it. */
const FRAMES_BYTES_MAX = MESSAGE_BYTES_MAX - 64 * 1024

/** What aggregations need of their object. */
export interface AggregatePorts {
  /** Runs one section of a call's tablet. */
  readonly section: <T>(
    call: AggregateCall,
    work: (tablet: Tablet) => TabletReply<T>,
  ) => Promise<TabletAnswer<T>>
  /** Lets other events in. */
  readonly pause: () => Promise<void>
}

/** The aggregations that are under way in one object. */
export class AggregateSections {
  readonly #ports: AggregatePorts
  #openCount = 0

  constructor(ports: AggregatePorts) {
    this.#ports = ports
  }

  /** Aggregates what a call asks for. */
  async run(call: AggregateCall): Promise<TabletAnswer<AggregateAnswer>> {
    const { section, pause } = this.#ports
    const aggregation = new OpenAggregation()
    this.#openCount++
    try {
      let answer = await section(call, (tablet) => {
        if (this.#openCount > AGGREGATE_OPEN_COUNT_MAX) throw tooManyAggregations()
        return aggregation.open(tablet, call)
      })
      while (answer.kind === 'ok' && answer.value === null) {
        await pause()
        answer = await section(call, (tablet) => aggregation.goOn(tablet))
      }
      if (answer.kind !== 'ok' || answer.value === null) return answer as TabletAnswer<never>
      return { ...answer, value: { snapshot: aggregation.snapshot, frames: answer.value } }
    } finally {
      this.#openCount--
      aggregation.close()
    }
  }
}

/** One call's work. */
class OpenAggregation {
  snapshot = 0
  #tablet: Tablet | null = null
  #run: AggregateRun | null = null

  /** Opens it and begins. Returns: as `goOn`. */
  open(tablet: Tablet, call: AggregateCall): TabletReply<Uint8Array | null> {
    return withValue(tablet.openAggregate(call), ({ snapshot, run }) => {
      this.#tablet = tablet
      this.#run = run
      this.snapshot = snapshot
      return this.#step(run)
    })
  }

  /** Goes on for a while. Returns: the frames of the result when it is done, else null. */
  goOn(tablet: Tablet): TabletReply<Uint8Array | null> {
    assert(this.#run !== null, 'an aggregation that goes on was opened')
    // The tablet was opened anew, and its files may be others.
    if (tablet !== this.#tablet) throw new StatusError('SERVICE_UNAVAILABLE', 'tablet restarted')
    return { kind: 'ok', clock: tablet.newestTime, value: this.#step(this.#run) }
  }

  #step(run: AggregateRun): Uint8Array | null {
    return run.step() ? null : framesOf(run.partial())
  }

  close(): void {
    this.#run?.close()
  }
}

function tooManyAggregations(): StatusError {
  return new StatusError('SERVICE_UNAVAILABLE', 'tablet has too many open aggregations', {
    limit: AGGREGATE_OPEN_COUNT_MAX,
    retryable: true,
  })
}

/** A partial result as frames. Throws: INVALID_ARGUMENT when it does not fit one message. */
export function framesOf(blocks: readonly RowBlock[]): Uint8Array {
  const writer = new ScanFrameWriter()
  const batches = blocks.map((block) => ({ block, keys: null }))
  let bytes = 0
  for (const batch of batches) bytes += writer.batchBytes(batch)
  if (bytes > FRAMES_BYTES_MAX) {
    const what = `result of a tablet is ${bytes} bytes, limit is ${FRAMES_BYTES_MAX}`
    throw invalidArgument(`aggregation: ${what}`, { limit: FRAMES_BYTES_MAX })
  }
  const frames = batches.map((batch) => writer.encodeBatch(batch))
  return concatBytes(...frames, writer.encodeEnd())
}
