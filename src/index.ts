/** The Worker's entry: the front over its surroundings, and the classes of the objects. */

import { createApp } from './api/app.ts'
import type { App } from './api/app-env.ts'
import { settingsOf } from './api/ports.ts'
import { FrontSurroundings } from './server/front-surroundings.ts'

export { CatalogObject } from './server/catalog-object.ts'
export { TabletObject } from './server/tablet-object.ts'

/** One for the isolate, made in its first request. */
let app: App | null = null

export default {
  fetch(request, env, context): Response | Promise<Response> {
    app ??= createApp({ ...new FrontSurroundings(env), settings: settingsOf(env) })
    return app.fetch(request, env, context)
  },
} satisfies ExportedHandler<Cloudflare.Env>
