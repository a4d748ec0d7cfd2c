/** Finds what a command line asks for, and does it. */

import { CliError } from './cli-error.ts'
import { parseArguments } from './flags.ts'
import { actionHelp, modeHelp, toolHelp } from './help.ts'
import type { Action, Mode, Positional } from './mode.ts'
import type { CliPorts } from './ports.ts'

/**
 * Runs the command that some words ask for, of those that `modes` know.
 *
 * Returns: the exit code; 1 with a message on the standard error.
 */
export async function runCli(
  words: readonly string[],
  modes: readonly Mode[],
  ports: CliPorts,
): Promise<number> {
  try {
    await dispatch(words, modes, ports)
    return 0
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    ports.err(`nyala: ${error.message}\n`)
    return 1
  }
}

async function dispatch(
  words: readonly string[],
  modes: readonly Mode[],
  ports: CliPorts,
): Promise<void> {
  const [modeName, actionName] = words
  if (asksForHelp(modeName)) {
    ports.out(toolHelp(modes))
    return
  }
  const mode = find(modes, modeName, 'nyala')
  if (asksForHelp(actionName)) {
    ports.out(modeHelp(mode))
    return
  }
  const action = find(mode.actions, actionName, `nyala ${mode.name}`)
  await runAction(mode, action, words.slice(2), ports)
}

async function runAction(
  mode: Mode,
  action: Action,
  words: readonly string[],
  ports: CliPorts,
): Promise<void> {
  const { positionals, flags, isHelpAsked } = parse(mode, action, words)
  if (isHelpAsked) {
    ports.out(actionHelp(mode, action))
    return
  }
  await action.run({ positionals: named(action.positionals, positionals), flags, ports })
}

function parse(
  mode: Mode,
  action: Action,
  words: readonly string[],
): ReturnType<typeof parseArguments> {
  try {
    return parseArguments(words, action.flags, action.refusedFlags)
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    throw new CliError(`${error.message}; see nyala ${mode.name} ${action.name} --help`)
  }
}

function asksForHelp(word: string | undefined): boolean {
  return word === undefined || /^(?:help|--?help|-h)$/.test(word)
}

function find<T extends { readonly name: string }>(
  things: readonly T[],
  name: string,
  command: string,
): T {
  const found = things.find((it) => it.name === name)
  if (found !== undefined) return found
  const names = things.map((it) => it.name).join(', ')
  throw new CliError(`there is no command "${name}" of ${command}; there are: ${names}`)
}

function named(
  expected: readonly Positional[],
  given: readonly string[],
): ReadonlyMap<string, string> {
  const missing = expected[given.length]
  if (missing !== undefined) throw new CliError(`<${missing.name}> is missing`)
  if (given.length > expected.length) {
    throw new CliError(`"${given[expected.length]}" is one word too many`)
  }
  return new Map(expected.map(({ name }, index) => [name, given[index]]))
}
