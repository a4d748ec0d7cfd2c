/**
 * Globals that the build puts in place, and the bindings of the Worker.
 *
 * `__VERIFY__` is replaced by `false` in the bundle (wrangler.toml) and by `true` under vitest
 * (vitest.config.ts). Node running a file directly leaves it undefined: only `util/verify.ts`
 * reads it.
 */
declare const __VERIFY__: boolean

declare module '*.sql' {
  const text: string
  export default text
}

declare namespace Cloudflare {
  interface GlobalProps {
    mainModule: typeof import('./index.ts')
  }
  interface Env {
    readonly TABLET: DurableObjectNamespace<import('./index.ts').TabletObject>
    readonly CATALOG: DurableObjectNamespace<import('./index.ts').CatalogObject>
    /** `disabled` switches authentication off. Only `scripts/dev.ts` sets it, for loopback. */
    readonly NYALA_AUTH?: string
    /** The bearer token of the administrator. Without it data requests are answered 503. */
    readonly NYALA_ADMIN_TOKEN?: string
    /**
     * Where all objects must stay: eu, fedramp, fedramp-high or us. Never changed once there is a
     * table.
     */
    readonly NYALA_JURISDICTION?: string
    /**
     * Where new objects are placed if possible: wnam, enam, sam, weur, eeur, apac, apac-ne,
     * apac-se, oc, afr or me.
     */
    readonly NYALA_LOCATION_HINT?: string
    /** Origins whose pages may call the service, separated by commas. */
    readonly NYALA_CORS_ORIGINS?: string
    /** What the objects log: error, info (default) or debug. */
    readonly NYALA_LOG_LEVEL?: string
  }
}
