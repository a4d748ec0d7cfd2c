/** Read modes of scans. */

/** What a scan promises about writes acknowledged before it began (K§6.3). */
export const READ_MODES = ['READ_LATEST', 'READ_AT_SNAPSHOT', 'READ_YOUR_WRITES'] as const
/** Read mode of a scan. */
export type ReadMode = (typeof READ_MODES)[number]
