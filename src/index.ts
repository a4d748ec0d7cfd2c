export { CatalogObject } from './server/catalog-object.ts'
export { TabletObject } from './server/tablet-object.ts'

export default {
  fetch(): Response {
    return Response.json({ name: 'nyala' })
  },
} satisfies ExportedHandler<Cloudflare.Env>
