/**
 * The extra configurations of a table: texts by name, three of Kudu's (K§7.2) and two of ours.
 */

import { HISTORY_MAX_AGE_SEC_MIN } from '../common/limits.ts'
import { invalidArgument, StatusError } from '../common/status.ts'

const INT32_MIN = -(2 ** 31)
const INT32_MAX = 2 ** 31 - 1

/** What a configuration's value may be: an integer in a range, or a boolean. */
type ConfigRule = { readonly min: number; readonly max: number } | 'boolean'

const CONFIG_RULES: ReadonlyMap<string, ConfigRule> = new Map<string, ConfigRule>([
  ['kudu.table.history_max_age_sec', { min: HISTORY_MAX_AGE_SEC_MIN, max: INT32_MAX }],
  ['kudu.table.maintenance_priority', { min: INT32_MIN, max: INT32_MAX }],
  ['kudu.table.disable_compaction', 'boolean'],
  // −1 is no limit, as it is for Kudu.
  ['nyala.table.row_count_limit', { min: -1, max: Number.MAX_SAFE_INTEGER }],
  ['nyala.table.disk_size_limit', { min: -1, max: Number.MAX_SAFE_INTEGER }],
])

/** Limits that nothing keeps yet: a table that has one would grow beyond it all the same. */
const UNKEPT_LIMITS: ReadonlySet<string> = new Set([
  'nyala.table.row_count_limit',
  'nyala.table.disk_size_limit',
])
const NO_LIMIT = -1

/**
 * The configurations as they are kept: those with an empty value left out.
 *
 * Throws: INVALID_ARGUMENT for a name that is none of them, or a value that its name does not
 * allow; NOT_SUPPORTED for a limit other than −1.
 */
export function normalizeExtraConfigs(
  configs: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(configs)) {
    const rule = CONFIG_RULES.get(name)
    if (rule === undefined) throw invalidArgument(`extra config "${name.slice(0, 100)}" is unknown`)
    if (value === '') continue
    checkValue(name, value, rule)
    if (UNKEPT_LIMITS.has(name) && Number(value) !== NO_LIMIT) throw unkeptLimit(name)
    kept[name] = value
  }
  return kept
}

function unkeptLimit(name: string): StatusError {
  const detail = `extra config "${name}" is not supported yet: leave it out, or set it to -1`
  return new StatusError('NOT_SUPPORTED', detail)
}

function checkValue(name: string, value: string, rule: ConfigRule): void {
  if (rule === 'boolean') {
    if (value === 'true' || value === 'false') return
    throw invalidArgument(`extra config "${name}" is neither true nor false`)
  }
  const isInteger = /^-?[0-9]{1,16}$/.test(value)
  const number = Number(value)
  if (isInteger && number >= rule.min && number <= rule.max) return
  throw invalidArgument(
    `extra config "${name}" is not an integer between ${rule.min} and ${rule.max}`,
  )
}
