/** Deletions by predicates: sent as a client would, and done to the model. */

import { selectRows } from './model-selection.ts'
import { TABLE_NAME } from './model-table.ts'
import { jsonRequest, selectionMembers } from './scan-requests.ts'
import type { DeleteEvent } from './scan-script.ts'
import type { Check, ScanWorld, WorldAnswer } from './scan-world.ts'

let keyCount = 0

/** Performs a deletion. */
export async function deleteByPredicates(world: ScanWorld, event: DeleteEvent): Promise<Check> {
  const { service } = world
  const members = selectionMembers(world.columns, event)
  if (members.length === 0) members.push('"all":true')
  const path = `/api/v1/tables/${TABLE_NAME}/rows/delete`
  const plain = jsonRequest(path, `{${members.join(',')}}`)
  const headers = event.isRepeated ? { 'idempotency-key': `delete-${keyCount++}` } : {}
  const request = { ...plain, headers }
  service.deletions = []
  const answer = await world.must(request)
  const { deletions } = service
  if (event.isRepeated) checkRepeat(answer, await world.must(request))
  world.count('delete by predicates')
  return () => checkDeletion(world, event, answer, deletions)
}

/** What is known to select nothing reaches no tablet that could remember it. */
function checkRepeat(first: WorldAnswer, second: WorldAnswer): void {
  const isNothing =
    first.text.startsWith('{"deleted":0,') && second.text.startsWith('{"deleted":0,')
  if (!isNothing && first.text !== second.text)
    throw new Error(`${first.text}, repeated ${second.text}`)
}

function checkDeletion(
  world: ScanWorld,
  event: DeleteEvent,
  { text }: WorldAnswer,
  deletions: ScanWorld['service']['deletions'],
): void {
  const { model } = world
  const times = new Map(deletions.map(({ tabletId, at }) => [tabletId, at]))
  const snapshots = new Set(deletions.map(({ snapshot }) => snapshot))
  if (snapshots.size > 1) throw new Error(`a deletion of the snapshots ${[...snapshots]}`)
  for (const at of times.values()) if (at !== null) world.noteChange(at)
  const snapshot = [...snapshots][0] ?? Number.MAX_SAFE_INTEGER
  const selected = selectRows(model, event, snapshot)
  for (const { keyName, row } of selected) {
    const at = times.get(world.tabletOf.get(keyName) ?? '') ?? null
    if (at === null) throw new Error(`row ${keyName} was not deleted`)
    const key = row.slice(0, model.keyColumns.length)
    model.put(key, at, null)
  }
  const answer = JSON.parse(text) as { readonly deleted: number; readonly timestamp: number }
  const newest = Math.max(0, ...[...times.values()].map((at) => at ?? 0))
  const isTimed = newest === 0 ? answer.timestamp >= 0 : answer.timestamp === newest
  if (answer.deleted !== selected.length || !isTimed) {
    throw new Error(`${text} instead of ${selected.length} rows deleted up to ${newest}`)
  }
  world.count('rows deleted by predicates', selected.length)
}
