/**
 * What no engine does: a Worker that parses a body of rows and nothing else, and one that also
 * stores one row of the size that a thousand rows of the load generator have, through an object.
 * Nothing that keeps rows by their keys can take them faster than these.
 */

import { DurableObject } from 'cloudflare:workers'

interface BareEnv {
  readonly STORE: DurableObjectNamespace<StoreObject>
}

interface RowsBody {
  readonly rows: readonly unknown[]
}

const ROW_BYTES = 48 * 1024
const ROW = new Uint8Array(ROW_BYTES).map((_, i) => (i * 167) & 255)

export default {
  async fetch(request: Request, env: BareEnv): Promise<Response> {
    const { rows } = (await request.json()) as RowsBody
    const [, path, name] = new URL(request.url).pathname.split('/')
    switch (path) {
      case 'parse':
        return Response.json({ rows: rows.length })
      case 'store':
        await env.STORE.getByName(name).append(ROW)
        return Response.json({ rows: rows.length })
      default:
        return new Response('not found', { status: 404 })
    }
  },
}

/** Keeps bytes. */
export class StoreObject extends DurableObject<BareEnv> {
  readonly #sql: SqlStorage

  constructor(state: DurableObjectState, env: BareEnv) {
    super(state, env)
    this.#sql = state.storage.sql
    this.#sql.exec('CREATE TABLE IF NOT EXISTS bodies (id INTEGER PRIMARY KEY, body BLOB)')
  }

  append(body: Uint8Array): void {
    this.#sql.exec('INSERT INTO bodies (body) VALUES (?)', body)
  }
}
