/** Bodies of JSON that are not rows: read whole, exactly, and checked against a schema. */

import type { z } from 'zod'
import { JSON_BODY_BYTES_MAX } from '../common/limits.ts'
import { invalidArgument, type StatusError } from '../common/status.ts'
import { withWholeBody } from './body-reader.ts'
import type { FrontMemory } from './front-memory.ts'
import { readJsonTree, shownName } from './json-tree.ts'
import { bodyFormat } from './media-type.ts'

/** A body: as it was sent, and as its schema has it. */
export interface RequestBody<Schema extends z.ZodType> {
  readonly tree: unknown
  readonly value: z.output<Schema>
}

/**
 * Checks what can be checked of a request's body before it is read: that there is one, of JSON.
 *
 * Throws: INVALID_ARGUMENT, UNSUPPORTED_MEDIA_TYPE.
 */
export function checkJsonBody(request: Request): void {
  if (request.body === null) throw invalidArgument('request has no body')
  bodyFormat(request, ['json'])
}

/**
 * Reads a request's body of JSON. Numbers that the schema leaves alone are NumberLiterals.
 *
 * Throws: UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE, INVALID_ARGUMENT naming
 * the member.
 */
export async function readRequestBody<Schema extends z.ZodType>(
  memory: FrontMemory,
  request: Request,
  schema: Schema,
): Promise<RequestBody<Schema>> {
  checkJsonBody(request)
  const tree = await withWholeBody(memory, request, JSON_BODY_BYTES_MAX, ({ bytes, end }) => {
    return readJsonTree(bytes, end)
  })
  const result = schema.safeParse(tree)
  if (result.success) return { tree, value: result.data }
  throw issueError(result.error.issues, tree)
}

/** The first thing that is wrong. */
function issueError(issues: readonly z.core.$ZodIssue[], tree: unknown): StatusError {
  const [issue] = issues
  const place = placeText(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const owner = place === '' ? '' : ` of "${place}"`
    return invalidArgument(`unknown member ${shownName(issue.keys[0])}${owner}`)
  }
  if (place === '') return invalidArgument(`body ${issue.message}`)
  const what = isMissing(tree, issue.path) ? 'is missing' : issue.message
  const limit = limitOf(issues.filter(({ path }) => placeText(path) === place))
  return invalidArgument(`member "${place}" ${what}`, limit === null ? {} : { limit })
}

/**
 * The bound that a member breaks, or null when it breaks none. What is no safe integer breaks the
 * bounds of all integers too, which lie further out.
 */
function limitOf(issues: readonly z.core.$ZodIssue[]): number | null {
  let limit: number | null = null
  for (const issue of issues) {
    if (issue.code === 'too_big') limit = Math.min(limit ?? Infinity, Number(issue.maximum))
    if (issue.code === 'too_small') limit = Math.max(limit ?? -Infinity, Number(issue.minimum))
  }
  return limit
}

/** `schema.columns[2].name` */
function placeText(path: readonly PropertyKey[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? String(step) : `.${String(step)}`
  }
  return text
}

function isMissing(tree: unknown, path: readonly PropertyKey[]): boolean {
  let value = tree
  for (const step of path) value = (value as Record<PropertyKey, unknown>)[step]
  return value === undefined
}
