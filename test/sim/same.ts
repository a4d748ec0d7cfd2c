/** Throws an error that shows both sides when two plain values differ. */
export function assertSame(found: unknown, expected: unknown, law: string): void {
  if (areSameRows(found, expected)) return
  const [foundText, expectedText] = [textOf(found), textOf(expected)]
  if (foundText === expectedText) return
  throw new Error(`${law}\nfound    ${foundText}\nexpected ${expectedText}`)
}

/** Whether both are lists of rows with the same cells: the quick answer to what is asked most. */
function areSameRows(found: unknown, expected: unknown): boolean {
  if (!Array.isArray(found) || !Array.isArray(expected)) return false
  if (found.length !== expected.length) return false
  return found.every((row: unknown, index) => {
    const other: unknown = expected[index]
    if (!isPlain(row) || !isPlain(other)) return false
    const names = Object.keys(row)
    if (names.length !== Object.keys(other).length) return false
    return names.every((name) => row[name] === other[name])
  })
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)
}

/** JSON with members in one order and typed arrays as lists. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (ArrayBuffer.isView(member)) return Array.from(member as unknown as ArrayLike<number>)
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
