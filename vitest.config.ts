import { readFile } from 'node:fs/promises'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

/** The text modules that wrangler.toml's rule makes of `.sql` files, for tests in Node. */
const sqlAsText = {
  name: 'nyala:sql-as-text',
  enforce: 'pre' as const,
  async load(id: string): Promise<string | undefined> {
    if (!id.endsWith('.sql')) return undefined
    return `export default ${JSON.stringify(await readFile(id, 'utf8'))}`
  },
}

// Verify builds check whole structures after every step; wrangler.toml defines the opposite.
const define = { __VERIFY__: 'true' }

// A test without an assertion proves nothing.
const expect = { requireAssertions: true }

export default defineConfig({
  test: {
    projects: [
      {
        define,
        plugins: [sqlAsText],
        test: {
          name: 'node',
          environment: 'node',
          // Nothing tested here keeps state in modules, and starting a worker for each file costs
          // more than what most files do.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.workerd.test.ts', 'test/**/*.e2e.test.ts'],
          testTimeout: 20_000,
          expect,
        },
      },
      {
        define,
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            // What the objects tell at level info is not what a test is about, nor who asks.
            miniflare: { bindings: { NYALA_LOG_LEVEL: 'error', NYALA_AUTH: 'disabled' } },
          }),
        ],
        test: {
          name: 'workerd',
          include: ['test/**/*.workerd.test.ts'],
          testTimeout: 30_000,
          expect,
        },
      },
      {
        define,
        plugins: [sqlAsText],
        test: {
          name: 'e2e',
          environment: 'node',
          include: ['test/**/*.e2e.test.ts'],
          // Each file starts a server of its own: one at a time, after everything else has run.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect,
        },
      },
    ],
  },
})
