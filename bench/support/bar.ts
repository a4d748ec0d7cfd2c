/** What a figure is held against. */

/** `(at most 48: holds)`, or that it was missed. */
export function atMost(figure: number, bar: number): string {
  return `(at most ${bar}: ${figure <= bar ? 'holds' : 'MISSED'})`
}

/** `(at least 5: holds)`, or that it was missed. */
export function atLeast(figure: number, bar: number): string {
  return `(at least ${bar}: ${figure >= bar ? 'holds' : 'MISSED'})`
}
