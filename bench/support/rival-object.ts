/**
 * What one writes by hand on this platform: a front with a few routes over a Durable Object that
 * keeps rows in a table of its SQLite. Bodies go to the object as the text that came, which is
 * cheaper than parsed rows: parsed there to insert them one by one, or by SQLite's `json_each`.
 * Tables are STRICT, so that a cell of another type is refused.
 */

import { DurableObject } from 'cloudflare:workers'

interface ObjectEnv {
  readonly ROWS: DurableObjectNamespace<RowsObject>
}

interface LoadgenRow {
  readonly key: number
  readonly int_val: number
  readonly string_val: string
}

type Cells = Record<string, SqlStorageValue>
type Stub = DurableObjectStub<RowsObject>
type Handler = (stub: Stub, request: Request, key: string) => Promise<Response>

interface Route {
  readonly method: string
  /** What stands behind `/{object}`. */
  readonly path: string
  readonly handler: Handler
}

/** `/{object}/{path}/{key}`, the key percent-encoded. */
const ROUTES: readonly Route[] = [
  { method: 'POST', path: 'rows', handler: insertRows },
  { method: 'POST', path: 'json', handler: insertJson },
  { method: 'GET', path: 'rows', handler: getRow },
  { method: 'GET', path: 'records', handler: getRecord },
  { method: 'PATCH', path: 'records', handler: updateRecord },
  { method: 'POST', path: 'records', handler: insertRecords },
  { method: 'POST', path: 'query', handler: query },
  { method: 'DELETE', path: 'all', handler: clear },
]

export default {
  async fetch(request: Request, env: ObjectEnv): Promise<Response> {
    const [, object, path, key = ''] = new URL(request.url).pathname.split('/')
    const route = ROUTES.find((one) => one.method === request.method && one.path === path)
    if (route === undefined) return new Response('not found', { status: 404 })
    try {
      return await route.handler(env.ROWS.getByName(object), request, decodeURIComponent(key))
    } catch (error) {
      return Response.json({ error: String(error) }, { status: 400 })
    }
  },
}

async function insertRows(stub: Stub, request: Request): Promise<Response> {
  return Response.json({ rows: await stub.insertRows(await request.text()) })
}

async function insertJson(stub: Stub, request: Request): Promise<Response> {
  return Response.json({ rows: await stub.insertJson(await request.text()) })
}

async function insertRecords(stub: Stub, request: Request): Promise<Response> {
  return Response.json({ rows: await stub.insertRecords(await request.text()) })
}

async function getRow(stub: Stub, _request: Request, key: string): Promise<Response> {
  return rowResponse(await stub.row(Number(key)))
}

async function getRecord(stub: Stub, _request: Request, key: string): Promise<Response> {
  return rowResponse(await stub.record(key))
}

async function updateRecord(stub: Stub, request: Request, key: string): Promise<Response> {
  const fields = (await request.json()) as Record<string, string>
  const updated = await stub.updateRecord(key, fields)
  return Response.json({ updated }, { status: updated === 1 ? 200 : 404 })
}

async function query(stub: Stub, request: Request): Promise<Response> {
  return Response.json(await stub.query(await request.text()))
}

async function clear(stub: Stub): Promise<Response> {
  await stub.clear()
  return new Response(null, { status: 204 })
}

function rowResponse(row: Cells | null): Response {
  return row === null ? new Response('not found', { status: 404 }) : Response.json(row)
}

const FIELDS = Array.from({ length: 10 }, (_, i) => `field${i}`)
const SCHEMA =
  'CREATE TABLE IF NOT EXISTS loadgen (key INTEGER PRIMARY KEY, int_val INTEGER NOT NULL, ' +
  'string_val TEXT NOT NULL) STRICT; ' +
  'CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, ' +
  `${FIELDS.map((name) => `${name} TEXT NOT NULL`).join(', ')}) STRICT, WITHOUT ROWID`
const INSERT_ROW = 'INSERT INTO loadgen (key, int_val, string_val) VALUES (?, ?, ?)'
const INSERT_ROWS =
  "INSERT INTO loadgen (key, int_val, string_val) SELECT value->>'key', value->>'int_val', " +
  "value->>'string_val' FROM json_each(?, '$.rows')"
const INSERT_RECORDS =
  `INSERT INTO records (key, ${FIELDS.join(', ')}) SELECT value->>'key', ` +
  `${FIELDS.map((name) => `value->>'${name}'`).join(', ')} FROM json_each(?, '$.rows')`

/** Keeps rows in SQLite. */
export class RowsObject extends DurableObject<ObjectEnv> {
  readonly #storage: DurableObjectStorage
  readonly #sql: SqlStorage

  constructor(state: DurableObjectState, env: ObjectEnv) {
    super(state, env)
    this.#storage = state.storage
    this.#sql = state.storage.sql
    this.#sql.exec(SCHEMA)
  }

  insertRows(body: string): number {
    const { rows } = JSON.parse(body) as { rows: LoadgenRow[] }
    this.#storage.transactionSync(() => {
      for (const { key, int_val, string_val } of rows) {
        this.#sql.exec(INSERT_ROW, key, int_val, string_val)
      }
    })
    return rows.length
  }

  insertJson(body: string): number {
    return this.#sql.exec(INSERT_ROWS, body).rowsWritten
  }

  row(key: number): Cells | null {
    const found = this.#sql.exec('SELECT key, int_val, string_val FROM loadgen WHERE key = ?', key)
    return found.toArray()[0] ?? null
  }

  insertRecords(body: string): number {
    return this.#sql.exec(INSERT_RECORDS, body).rowsWritten
  }

  record(key: string): Cells | null {
    return this.#sql.exec('SELECT * FROM records WHERE key = ?', key).toArray()[0] ?? null
  }

  updateRecord(key: string, fields: Record<string, string>): number {
    const names = Object.keys(fields)
    if (!names.every((name) => FIELDS.includes(name))) throw new Error('there is no such field')
    const changes = names.map((name) => `${name} = ?`).join(', ')
    const statement = `UPDATE records SET ${changes} WHERE key = ?`
    return this.#sql.exec(statement, ...Object.values(fields), key).rowsWritten
  }

  query(statement: string): Cells[] {
    return this.#sql.exec(statement).toArray()
  }

  async clear(): Promise<void> {
    await this.#storage.deleteAll()
    this.#sql.exec(SCHEMA)
  }
}
