/**
 * Whether the expensive checks run: walks over whole structures, decoding what was just encoded.
 *
 * The bundler defines `__VERIFY__` as false and so drops them; tests define it as true.
 */
export const VERIFY: boolean = typeof __VERIFY__ !== 'undefined' && __VERIFY__
