/**
 * The shape of the tool, as of Kudu's: `nyala <mode> <action> <arguments> [flags]`. A mode is a
 * file of its own that lists its actions; an action is a description and a function.
 */

import type { Flag, FlagValues, RefusedFlag } from './flags.ts'
import type { CliPorts } from './ports.ts'

/** A word that an action must be given. */
export interface Positional {
  readonly name: string
  readonly description: string
}

/** What an action is run with. */
export interface ActionContext {
  /** By name. */
  readonly positionals: ReadonlyMap<string, string>
  readonly flags: FlagValues
  readonly ports: CliPorts
}

/** One thing that the tool does. */
export interface Action {
  readonly name: string
  /** In a few words, for lists. */
  readonly description: string
  /** The rest of what there is to say. */
  readonly details: string
  readonly positionals: readonly Positional[]
  readonly flags: readonly Flag[]
  readonly refusedFlags: readonly RefusedFlag[]
  /** Does it. Throws: CliError, when the exit code is to be 1. */
  readonly run: (context: ActionContext) => Promise<void>
}

/** Actions about one matter. */
export interface Mode {
  readonly name: string
  readonly description: string
  readonly actions: readonly Action[]
}
