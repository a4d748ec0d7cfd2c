/**
 * What a Worker over D1 does for the same questions: runs SQL, takes rows by `json_each`, which is
 * the fastest way known to insert many, and answers a whole table as JSON, page by page.
 *
 * Rows of the load generator come in two ways: `json_each` is handed the body as it came, for D1 to
 * read; `batch()` takes one INSERT a row, all of them in one transaction.
 */

interface RivalEnv {
  readonly DB: D1Database
}

interface InsertBody {
  readonly sql: string
  readonly rows: readonly (readonly unknown[])[]
}

interface LoadgenBody {
  readonly rows: readonly {
    readonly key: number
    readonly int_val: number
    readonly string_val: string
  }[]
}

const PAGE_ROWS = 10_000
const INSERT_ROW = 'INSERT INTO loadgen (key, int_val, string_val) VALUES (?, ?, ?)'
const INSERT_ROWS =
  "INSERT INTO loadgen (key, int_val, string_val) SELECT value->>'key', value->>'int_val', " +
  "value->>'string_val' FROM json_each(?, '$.rows')"

export default {
  async fetch(request: Request, env: RivalEnv): Promise<Response> {
    const url = new URL(request.url)
    switch (url.pathname) {
      case '/query': {
        const { results } = await env.DB.prepare(await request.text()).all()
        return Response.json(results)
      }
      case '/meta': {
        const { meta } = await env.DB.prepare(await request.text()).all()
        return Response.json(meta)
      }
      case '/insert': {
        const { sql, rows } = (await request.json()) as InsertBody
        const { meta } = await env.DB.prepare(sql).bind(JSON.stringify(rows)).run()
        return Response.json({ rows: rows.length, meta })
      }
      case '/loadgen/json': {
        const { meta } = await env.DB.prepare(INSERT_ROWS)
          .bind(await request.text())
          .run()
        return Response.json({ rows: meta.changes })
      }
      case '/loadgen/batch': {
        const { rows } = (await request.json()) as LoadgenBody
        const insert = env.DB.prepare(INSERT_ROW)
        await env.DB.batch(
          rows.map(({ key, int_val, string_val }) => insert.bind(key, int_val, string_val)),
        )
        return Response.json({ rows: rows.length })
      }
      case '/scan':
        return new Response(scan(env, url.searchParams.get('table') ?? ''), {
          headers: { 'content-type': 'application/json' },
        })
      default:
        return new Response('not found', { status: 404 })
    }
  },
}

/** All rows of a table as one JSON array. Requires: its rowids are 1, 2, 3 and so on. */
function scan({ DB }: RivalEnv, table: string): ReadableStream<Uint8Array> {
  const statement = DB.prepare(`SELECT * FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ?`)
  const encoder = new TextEncoder()
  let done = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { results } = await statement.bind(done, PAGE_ROWS).all()
      const text = JSON.stringify(results)
      const opening = done === 0 ? '[' : results.length > 0 ? ',' : ''
      controller.enqueue(encoder.encode(`${opening}${text.slice(1, -1)}`))
      done += results.length
      if (results.length === PAGE_ROWS) return
      controller.enqueue(encoder.encode(']'))
      controller.close()
    },
  })
}
