/** Holds JSON values to the part of JSON Schema that the service's document uses. */

/** A schema, or what a reference in it leads to. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Keywords that say something only to people, and those that are looked at elsewhere. */
const SILENT = ['description', 'format', 'required', 'items', '$ref', 'additionalProperties']

const CHECKS: Readonly<Record<string, (rule: never, value: never) => boolean>> = {
  type: (types: string | string[], value: unknown) => [types].flat().some((it) => isOf(it, value)),
  enum: (values: unknown[], value: unknown) => values.includes(value),
  const: (expected: unknown, value: unknown) => value === expected,
  minimum: (minimum: number, value: number) => typeof value !== 'number' || value >= minimum,
  maximum: (maximum: number, value: number) => typeof value !== 'number' || value <= maximum,
}

/**
 * What of a value its schema forbids, and what it does not speak of. Throws for keywords that are
 * not known here.
 */
export function schemaProblems(
  schemas: Readonly<Record<string, JsonSchema>>,
  schema: JsonSchema,
  value: unknown,
  place = '$',
): string[] {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.replace('#/components/schemas/', '')
    return schemaProblems(schemas, schemas[name], value, place)
  }
  const problems: string[] = []
  for (const [keyword, rule] of Object.entries(schema)) {
    if (keyword === 'anyOf') {
      const tries = (rule as JsonSchema[]).map((it) => schemaProblems(schemas, it, value, place))
      if (tries.every((tried) => tried.length > 0)) problems.push(...tries.flat())
    } else if (keyword === 'properties') {
      // Looked at with the members.
    } else if (Object.hasOwn(CHECKS, keyword)) {
      const holds = CHECKS[keyword](rule as never, value as never)
      if (!holds) problems.push(`${place}: ${keyword} ${JSON.stringify(rule)}`)
    } else if (!SILENT.includes(keyword)) throw new Error(`keyword ${keyword} is not known`)
  }
  if (Array.isArray(value) && schema.items !== undefined) {
    const items = schema.items as JsonSchema
    problems.push(...value.flatMap((it, i) => schemaProblems(schemas, items, it, `${place}[${i}]`)))
  }
  if (isOf('object', value)) {
    problems.push(...memberProblems(schemas, schema, value as Record<string, unknown>, place))
  }
  return problems
}

function memberProblems(
  schemas: Readonly<Record<string, JsonSchema>>,
  schema: JsonSchema,
  value: Record<string, unknown>,
  place: string,
): string[] {
  if (schema.anyOf !== undefined || schema.type === undefined) return []
  const required = (schema.required as string[] | undefined) ?? []
  const properties = (schema.properties as Record<string, JsonSchema> | undefined) ?? {}
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const problems = missing.map((name) => `${place}.${name}: missing`)
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties
    if (typeof inner === 'object' && inner !== null) {
      problems.push(...schemaProblems(schemas, inner as JsonSchema, member, `${place}.${name}`))
    } else if (inner !== true) problems.push(`${place}.${name}: not documented`)
  }
  return problems
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}
