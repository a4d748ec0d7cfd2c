/** Which paths need a caller's token, and which are open to all. */

/** Where everything is that has to do with tables. */
export const API_PREFIX = '/api/v1'

const OPEN_PATHS: readonly string[] = [`${API_PREFIX}/version`, `${API_PREFIX}/spec`]

/** Whether a path belongs to the versioned interface. */
export function isUnderApi(path: string): boolean {
  return path === API_PREFIX || path.startsWith(`${API_PREFIX}/`)
}

/** Whether a path is answered to whoever asks. */
export function isOpen(path: string): boolean {
  return !isUnderApi(path) || OPEN_PATHS.includes(path)
}
