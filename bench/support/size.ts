/** Sizes of a benchmark: `smoke` proves that it works, `full` is what figures are quoted from. */
export const SIZES = ['smoke', 'full'] as const
/** A size. */
export type Size = (typeof SIZES)[number]
