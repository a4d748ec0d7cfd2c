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
  onInterrupt: (work) => {
    // Once: to ask again ends the process as it is.
    process.once('SIGINT', work)
    return () => process.off('SIGINT', work)
  },
  randomHex: (bytes) => randomBytes(bytes).toString('hex'),
  openTransport: openHttpTransport,
}

process.exitCode = await runCli(process.argv.slice(2), MODES, PORTS)
