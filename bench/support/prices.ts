/**
 * What Cloudflare charges on the paid plan, in dollars, beyond what is included each month
 * (developers.cloudflare.com/durable-objects/platform/pricing and …/d1/platform/pricing, as of
 * November 2026).
 */

const MILLION = 1e6
const GB = 1e9

/** Prices of one place to keep rows in. */
export interface Prices {
  /** A million rows read. */
  readonly rowsRead: number
  /** A million rows written. */
  readonly rowsWritten: number
  /** A gigabyte kept for a month. */
  readonly stored: number
  /** A million requests to objects. */
  readonly requests: number
  /** A million gigabyte-seconds of objects in memory. */
  readonly duration: number
}

/** SQLite in Durable Objects. */
export const OBJECT_PRICES: Prices = {
  rowsRead: 0.001,
  rowsWritten: 1,
  stored: 0.2,
  requests: 0.15,
  duration: 12.5,
}
/** D1, which has no objects of its own. */
export const D1_PRICES: Prices = {
  rowsRead: 0.001,
  rowsWritten: 1,
  stored: 0.75,
  requests: 0,
  duration: 0,
}
/** What an object in memory is taken to hold. */
export const OBJECT_GB = 0.128

/** What is paid for. */
export interface Usage {
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly storedBytes: number
  readonly requests: number
  /** Seconds that objects are in memory. */
  readonly seconds: number
}

/** Dollars for a month's usage. */
export function dollarsOf(prices: Prices, usage: Usage): number {
  const { rowsRead, rowsWritten, storedBytes, requests, seconds } = usage
  return (
    (rowsRead / MILLION) * prices.rowsRead +
    (rowsWritten / MILLION) * prices.rowsWritten +
    (storedBytes / GB) * prices.stored +
    (requests / MILLION) * prices.requests +
    ((seconds * OBJECT_GB) / MILLION) * prices.duration
  )
}
