/** Writes JSON in which some values are texts already: integers of 64 bits, rows. */

/** A JSON text that goes into a larger one as it is. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The JSON text of a value; members that are undefined are left out. */
export function jsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${jsonText(member)}`)
  }
  return `{${members.join(',')}}`
}

/** A JSON response. */
export function jsonResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(jsonText(value), {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
  })
}
