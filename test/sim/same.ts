/** Throws an error that shows both sides when two plain values differ. */
export function assertSame(found: unknown, expected: unknown, law: string): void {
  const [foundText, expectedText] = [textOf(found), textOf(expected)]
  if (foundText === expectedText) return
  throw new Error(`${law}\nfound    ${foundText}\nexpected ${expectedText}`)
}

/** JSON with members in one order and typed arrays as lists. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => {
    if (ArrayBuffer.isView(member)) return Array.from(member as unknown as ArrayLike<number>)
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
