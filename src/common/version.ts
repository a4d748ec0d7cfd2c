/** The version of this program, that of package.json. */
export const VERSION = '0.1.0'
