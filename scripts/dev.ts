/**
 * `npm run dev`: the whole service on this machine, under `wrangler dev`.
 *
 * Flags are passed on (`npm run dev -- --port 8788 --persist-to elsewhere`); state is kept in
 * `.wrangler/state` unless `--persist-to` says otherwise. Wrangler runs in this process group, gets
 * our signals, and its exit code is ours. npm does not pass SIGTERM on, so its end is watched for.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { planDev } from './dev-plan.ts'

const PARENT_CHECK_MS = 500

const root = dirname(import.meta.dirname)

function readConfiguration(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function announce(host: string, port: number, isAuthOn: boolean): void {
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  console.log(`Nyala  ${address}`)
  console.log(`Docs   ${address}/api/docs`)
  console.log(`Auth   ${isAuthOn ? 'on: send the administrator token' : 'off: this machine only'}`)
}

function run(wranglerArgs: readonly string[], isAuthOn: boolean): void {
  const cli = fileURLToPath(import.meta.resolve('wrangler'))
  const wrangler = spawn(process.execPath, ['--no-warnings', cli, ...wranglerArgs], {
    cwd: root,
    // Otherwise wrangler asks the network for a `request.cf` that nobody reads.
    env: { CLOUDFLARE_CF_FETCH_ENABLED: 'false', ...process.env },
    // The fourth is the channel on which wrangler says that it is ready.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })

  wrangler.on('message', (message) => {
    const ready = JSON.parse(String(message)) as { event: string; ip: string; port: number }
    if (ready.event === 'DEV_SERVER_READY') announce(ready.ip, ready.port, isAuthOn)
  })
  wrangler.on('error', (error) => {
    console.error(`dev: wrangler did not start: ${error.message}`)
    process.exit(1)
  })
  wrangler.on('exit', (code, signal) => {
    process.exit(signal === null ? (code ?? 1) : 128 + constants.signals[signal])
  })
  stopWhenNpmIsGone(() => wrangler.kill('SIGTERM'))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => wrangler.kill('SIGTERM'))
  }
}

/** A process that loses its parent gets another one; nothing else tells it. */
function stopWhenNpmIsGone(stop: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && stop(), PARENT_CHECK_MS).unref()
}

process.chdir(root)
const plan = planDev(process.argv.slice(2), {
  variables: process.env,
  readFile: readConfiguration,
})
if (plan.ok) {
  run(plan.wranglerArgs, plan.isAuthOn)
} else {
  console.error(plan.message)
  process.exitCode = 2
}
