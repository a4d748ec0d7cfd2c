/**
 * Makes room where the tablets of an isolate hold too much together, and the one that is written to
 * has nothing to give: others are asked to flush, which nobody else would ask of them.
 *
 *   over the hard limit    a write was refused: the largest are asked, one after the other, and the
 *                          write waits for it
 *   over the soft limit    one of those that were left alone is asked, and nobody waits
 *
 * An object cannot touch the storage of another, so it calls it, as an operator would.
 */

import type { MemoryAccountant } from '../tablet/memory-accountant.ts'
import { type MaintainCall, type TabletAnswer, WIRE_VERSION } from '../wire/tablet-protocol.ts'

/** What makes a tablet hold nothing. */
const FLUSHES = ['FLUSH_MRS', 'FLUSH_DMS'] as const

/** What relief needs of its object. */
export interface ReliefPorts {
  readonly accountant: MemoryAccountant
  /** Calls a tablet object, which may fail. */
  readonly maintain: (tabletId: string, call: MaintainCall) => Promise<unknown>
  readonly randomId: () => string
  readonly elapsedMs: () => number
}

/** Tablets that are asked for one write. */
const ASKED_COUNT_MAX = 16
/** Times that a write is tried again: others take what room was made. */
const AGAIN_COUNT_MAX = 3
/** How long a write waits for room, about. */
const ROOM_MS_MAX = 5_000
/** How long a tablet is not asked again for writes that do not wait. */
const ASKED_AGAIN_MS = 10_000

/** See the file's header. */
export class MemoryRelief {
  readonly #ports: ReliefPorts
  readonly #askedAt = new Map<string, number>()

  constructor(ports: ReliefPorts) {
    this.#ports = ports
  }

  /**
   * Answers a write of `bytes` to the tablet `tabletId`: tries again when it was refused for want
   * of memory and others gave some. What was refused left nothing behind.
   */
  async during<T>(
    tabletId: string,
    bytes: number,
    write: () => Promise<TabletAnswer<T>>,
  ): Promise<TabletAnswer<T>> {
    let answer = await write()
    for (let again = 0; again < AGAIN_COUNT_MAX && isForNow(answer); again++) {
      if (!(await this.#makeRoom(tabletId, bytes))) break
      answer = await write()
    }
    if (answer.kind === 'ok') this.#spread(tabletId)
    return answer
  }

  /** Makes room for `bytes` of the tablet `tabletId`. Returns: whether there is some. */
  async #makeRoom(tabletId: string, bytes: number): Promise<boolean> {
    const { accountant, elapsedMs } = this.#ports
    const deadlineMs = elapsedMs() + ROOM_MS_MAX
    const asked = new Set([tabletId])
    while (accountant.isOverHard(bytes)) {
      const largest = accountant.largestBut(asked)
      const isLate = asked.size > ASKED_COUNT_MAX || elapsedMs() >= deadlineMs
      if (largest === null || isLate) return false
      asked.add(largest)
      await this.#flush(largest)
    }
    return true
  }

  /** After a write to a tablet: has one of those that were left alone flush, when that helps. */
  #spread(tabletId: string): void {
    const { accountant, elapsedMs } = this.#ports
    if (!accountant.isOverSoft()) return
    const now = elapsedMs()
    for (const [asked, at] of this.#askedAt) {
      if (now - at >= ASKED_AGAIN_MS) this.#askedAt.delete(asked)
    }
    const left = accountant.largestIdleBut(new Set([tabletId, ...this.#askedAt.keys()]))
    if (left === null) return
    this.#askedAt.set(left, now)
    void this.#flush(left)
  }

  /** Flushes another tablet. One that fails logs it on its own side, and keeps what it holds. */
  async #flush(tabletId: string): Promise<void> {
    const { maintain, randomId } = this.#ports
    for (const op of FLUSHES) {
      const call = { wire: WIRE_VERSION, tabletId, op, requestId: randomId() }
      await maintain(tabletId, call).catch(() => null)
    }
  }
}

function isForNow(answer: TabletAnswer<unknown>): boolean {
  return answer.kind === 'error' && answer.code === 'SERVICE_UNAVAILABLE'
}
