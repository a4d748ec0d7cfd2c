/** Rows that encoders append at a time. */
export const STEP_ROW_COUNT = {
  /** So that chunks of text are not too large. */
  text: 512,
  /** As many as come at once: what is kept of them then ends where they do. */
  columns: 4096,
} as const
