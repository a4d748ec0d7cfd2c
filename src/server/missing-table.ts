/**
 * Whether SQLite failed because there is no such table. To try is the only way to know that costs
 * nothing: looking first would read the whole schema each time.
 */
export function isMissingTable(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no such table: ')
}
