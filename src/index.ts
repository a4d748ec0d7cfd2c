import { DurableObject } from 'cloudflare:workers'

/** One tablet of one table. */
export class TabletObject extends DurableObject<Cloudflare.Env> {
  ping(): string {
    return 'tablet'
  }
}

/** The control plane: tables, partitions, tablets. */
export class CatalogObject extends DurableObject<Cloudflare.Env> {
  ping(): string {
    return 'catalog'
  }
}

export default {
  async fetch(_request, env): Promise<Response> {
    const catalog = await env.CATALOG.getByName('catalog').ping()
    const tablet = await env.TABLET.getByName('tablet').ping()
    return Response.json({ name: 'nyala', catalog, tablet })
  },
} satisfies ExportedHandler<Cloudflare.Env>
