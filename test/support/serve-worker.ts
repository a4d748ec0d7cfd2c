/**
 * The process that `startWorker` starts and kills: a built Worker, its bundle and its state in
 * directories, served on a port. Prints the address when it is ready.
 */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'

const COMPATIBILITY_DATE = '2026-10-01'

async function modulesOf(directory: string): Promise<Record<string, unknown>> {
  const modules: Record<string, unknown> = {}
  for (const name of await readdir(directory)) {
    if (!/\.(?:js|sql)$/.test(name)) continue
    const contents = await readFile(join(directory, name), 'utf8')
    modules[name] = { type: name.endsWith('.js') ? 'esm' : 'text', contents }
  }
  return modules
}

async function serve(bundle: string, state: string, port: number): Promise<void> {
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    logRequests: false,
    telemetry: { enabled: false },
    resourcePersistencePath: state,
    workers: [
      {
        config: {
          name: 'served',
          compatibilityDate: COMPATIBILITY_DATE,
          manifest: { mainModule: 'index.js', modules: await modulesOf(bundle) },
          env: {
            TABLET: { type: 'durable-object', worker: 'served', exportName: 'TabletObject' },
            CATALOG: { type: 'durable-object', worker: 'served', exportName: 'CatalogObject' },
            NYALA_AUTH: { type: 'text', value: 'disabled' },
            NYALA_LOG_LEVEL: { type: 'text', value: 'error' },
          },
          exports: {
            TabletObject: { type: 'durable-object', storage: 'sqlite' },
            CatalogObject: { type: 'durable-object', storage: 'sqlite' },
          },
        },
        // What stands between a client and the Worker otherwise costs more than the Worker does.
        dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port }] },
      },
    ],
  } as unknown as ConstructorParameters<typeof Miniflare>[0])
  await miniflare.ready
  process.stdout.write(`http://127.0.0.1:${port}\n`)
}

const [bundle, state, port] = process.argv.slice(2)
await serve(bundle, state, Number(port))
