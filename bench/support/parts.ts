import type { TabletParts } from '../../src/tablet/tablet-parts.ts'
import type { BenchTablet } from './bench-tablet.ts'

/** What a benchmark's tablet is made of. */
export function partsOf({ tablet }: BenchTablet): TabletParts {
  const { parts } = tablet
  if (parts === null) throw new Error('the tablet is not initialized')
  return parts
}

/** Replaces parts by others that do the same another way. Requires: nothing was written yet. */
export function replaceParts(
  bench: BenchTablet,
  others: Partial<Pick<TabletParts, 'locks' | 'mvcc' | 'op'>>,
): void {
  Object.assign(partsOf(bench), others)
}
