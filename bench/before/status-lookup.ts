import { type Outcome, StatusError } from '../../src/common/status.ts'
import type { MemRowSet } from '../../src/tablet/memory/mem-row-set.ts'
import { ABSENT_SLOT } from '../../src/tablet/write-op.ts'

/** How a key that is absent is told. */
export type AbsentAs = 'status' | 'exception'

/**
 * Lets a MemRowSet tell keys that are absent by a status or an exception each, as before there was
 * a slot that says so. The statuses are kept until all keys were looked for: so the decisions that
 * follow, in the order of the request, would find them.
 */
export function tellAbsent(memRowSet: MemRowSet, as: AbsentAs): void {
  const findSlots = memRowSet.findSlots.bind(memRowSet)
  const read = as === 'status' ? readStatuses : readExceptions
  memRowSet.findSlots = (keys, hashes, count, out) => {
    findSlots(keys, hashes, count, out)
    read(out, count)
  }
}

const statuses: Outcome<number>[] = []

function readStatuses(out: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) statuses.push(statusOf(out[i]))
  for (let i = 0; i < count; i++) {
    const status = statuses[i]
    out[i] = status.ok ? status.value : ABSENT_SLOT
  }
  statuses.length = 0
}

function statusOf(slot: number): Outcome<number> {
  if (slot !== ABSENT_SLOT) return { ok: true, value: slot }
  const details = { resource: 'row' } as const
  return { ok: false, code: 'NOT_FOUND', message: 'key is not found', details }
}

function readExceptions(out: Int32Array, count: number): void {
  for (let i = 0; i < count; i++) {
    try {
      out[i] = mustBeFound(out[i])
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 'NOT_FOUND') throw error
      out[i] = ABSENT_SLOT
    }
  }
}

function mustBeFound(slot: number): number {
  if (slot !== ABSENT_SLOT) return slot
  throw new StatusError('NOT_FOUND', 'key is not found', { resource: 'row' })
}
