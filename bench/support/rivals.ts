/**
 * What others build on the same platform: Workers that run beside the service, in the same process,
 * each with a socket of its own.
 *
 *   d1      a Worker over D1
 *   object  a front over a hand-written Durable Object, its rows in SQLite
 *   bare    a front that parses a body, and one that stores a row of its size besides: no engine
 */

import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

interface Rival {
  /** In this folder; imports nothing but the platform. */
  readonly file: string
  readonly databases: Readonly<Record<string, string>>
  /** Classes of its objects, by the name of their binding. */
  readonly objects: Readonly<Record<string, string>>
}

const RIVALS = {
  d1: { file: 'rival-worker.ts', databases: { DB: 'rival' }, objects: {} },
  object: { file: 'rival-object.ts', databases: {}, objects: { ROWS: 'RowsObject' } },
  bare: { file: 'rival-bare.ts', databases: {}, objects: { STORE: 'StoreObject' } },
} as const satisfies Readonly<Record<string, Rival>>

/** See the file's header. */
export type RivalName = keyof typeof RIVALS

/** A rival as Miniflare takes a Worker. */
export async function rivalWorker(
  name: RivalName,
  port: number,
  compatibilityDate: string,
): Promise<object> {
  const { file, databases, objects }: Rival = RIVALS[name]
  const contents = stripTypeScriptTypes(await readFile(join(import.meta.dirname, file), 'utf8'))
  const env: Record<string, object> = {}
  const exports: Record<string, object> = {}
  for (const [binding, id] of Object.entries(databases)) env[binding] = { type: 'd1', id }
  for (const [binding, exportName] of Object.entries(objects)) {
    env[binding] = { type: 'durable-object', worker: name, exportName }
    exports[exportName] = { type: 'durable-object', storage: 'sqlite' }
  }
  return {
    config: {
      name,
      compatibilityDate,
      manifest: { mainModule: 'index.js', modules: { 'index.js': { type: 'esm', contents } } },
      env,
      exports,
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port }] },
  }
}
