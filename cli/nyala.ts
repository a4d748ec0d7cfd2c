#!/usr/bin/env node
/** The command line tool: `nyala <mode> <action> …`. Here it meets the process. */

import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { MODES } from './modes.ts'
import type { CliPorts } from './ports.ts'
import { openHttpTransport } from './rest/http-transport.ts'
import { runCli } from './run-cli.ts'

const PORTS: CliPorts = {
  environment: process.env,
  out: (text) => {
    process.stdout.write(text)
  },
  err: (text) => {
    process.stderr.write(text)
  },
  isErrTerminal: process.stderr.isTTY === true,
  nowMs: () => performance.now(),
  sleep: (ms) => sleep(ms),
  yieldTurn: () => nextTurn(),
  every: (ms, work) => {
    const timer = setInterval(work, ms)
    return () => clearInterval(timer)
  },
  onInterrupt,
  randomHex: (bytes) => randomBytes(bytes).toString('hex'),
  openTransport: openHttpTransport,
}

/** The exit code of what a user interrupted. */
const INTERRUPTED = 130
/** Of one Ctrl-C, a process hears twice when npm has started it. */
const SAME_INTERRUPT_MS = 500

/** To ask a second time ends the process as it is. */
function onInterrupt(work: () => void): () => void {
  let firstAt = Number.NaN
  const hear = (): void => {
    const now = performance.now()
    if (now - firstAt > SAME_INTERRUPT_MS) process.exit(INTERRUPTED)
    if (!Number.isNaN(firstAt)) return
    firstAt = now
    work()
  }
  process.on('SIGINT', hear)
  return () => process.off('SIGINT', hear)
}

process.exitCode = await runCli(process.argv.slice(2), MODES, PORTS)
