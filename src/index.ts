import { FrontSurroundings } from './server/front-surroundings.ts'

export { CatalogObject } from './server/catalog-object.ts'
export { TabletObject } from './server/tablet-object.ts'

export default {
  async fetch(_request, env): Promise<Response> {
    const { ok } = await new FrontSurroundings(env).catalog().ping()
    return Response.json({ name: 'nyala', isReady: ok })
  },
} satisfies ExportedHandler<Cloudflare.Env>
