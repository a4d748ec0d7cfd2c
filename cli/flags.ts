/**
 * Flags as Kudu's tools take them: `--name=value` or `--name value`, `--name`, `--noname` and
 * `--name=false` for booleans; one dash or two, underscores or hyphens; among the other words in
 * any order. Behind `--` there are no flags.
 */

import { assert } from '../src/util/assert.ts'
import { CliError } from './cli-error.ts'

/** What a flag is set to. */
export type FlagValue = boolean | number | string

/** A flag of an action. */
export interface Flag {
  /** With underscores. */
  readonly name: string
  readonly kind: 'bool' | 'integer' | 'double' | 'string'
  /** Also what holds when the flag is not given. */
  readonly value: FlagValue
  readonly description: string
  /** Of numbers, inclusive. */
  readonly min?: number
  readonly max?: number
  /** Of strings: the only ones that are taken. */
  readonly choices?: readonly string[]
}

/** A flag that others have and that would do nothing here, and why. */
export interface RefusedFlag {
  readonly name: string
  readonly why: string
}

/** What the words of a command line say. */
export interface ParsedArguments {
  readonly positionals: readonly string[]
  readonly flags: FlagValues
  readonly isHelpAsked: boolean
}

/** The values of all flags of an action. */
export class FlagValues {
  readonly #values: ReadonlyMap<string, FlagValue>
  readonly #given: ReadonlySet<string>

  constructor(values: ReadonlyMap<string, FlagValue>, given: ReadonlySet<string>) {
    this.#values = values
    this.#given = given
  }

  /** Whether the user set a flag. */
  isGiven(name: string): boolean {
    return this.#given.has(name)
  }

  bool(name: string): boolean {
    const value = this.#values.get(name)
    assert(typeof value === 'boolean', 'flag is a boolean')
    return value
  }

  number(name: string): number {
    const value = this.#values.get(name)
    assert(typeof value === 'number', 'flag is a number')
    return value
  }

  text(name: string): string {
    const value = this.#values.get(name)
    assert(typeof value === 'string', 'flag is a string')
    return value
  }
}

/** Reads the words behind an action. Throws: CliError. */
export function parseArguments(
  words: readonly string[],
  flags: readonly Flag[],
  refused: readonly RefusedFlag[],
): ParsedArguments {
  const values = new Map(flags.map((flag) => [flag.name, flag.value]))
  const given = new Set<string>()
  const positionals: string[] = []
  let isHelpAsked = false
  for (let i = 0; i < words.length; i++) {
    const word = words[i]
    if (word === '--') {
      positionals.push(...words.slice(i + 1))
      break
    }
    const match = /^--?([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(word)
    if (match === null) {
      if (word.startsWith('-') && word !== '-') throw new CliError(`${word} is not a flag`)
      positionals.push(word)
      continue
    }
    const name = match[1].replaceAll('-', '_')
    if (name === 'help' || name === 'h') {
      isHelpAsked = true
      continue
    }
    const { flag, isNegated } = findFlag(name, flags, refused)
    let text: string | undefined = match[2]
    if (text === undefined && flag.kind !== 'bool') text = words[++i]
    values.set(flag.name, flagValue(flag, isNegated, text))
    given.add(flag.name)
  }
  return { positionals, flags: new FlagValues(values, given), isHelpAsked }
}

interface FoundFlag {
  readonly flag: Flag
  readonly isNegated: boolean
}

function findFlag(
  name: string,
  flags: readonly Flag[],
  refused: readonly RefusedFlag[],
): FoundFlag {
  const flag = flags.find((it) => it.name === name)
  if (flag !== undefined) return { flag, isNegated: false }
  const positive = name.replace(/^no_?/, '')
  const negated = flags.find((it) => it.name === positive && it.kind === 'bool')
  if (negated !== undefined && positive !== name) return { flag: negated, isNegated: true }
  const known = refused.find((it) => it.name === name || it.name === positive)
  if (known !== undefined) throw new CliError(`flag --${known.name} is not taken: ${known.why}`)
  throw new CliError(`unknown flag --${name}`)
}

function flagValue(flag: Flag, isNegated: boolean, text: string | undefined): FlagValue {
  const { name, kind, choices } = flag
  if (kind === 'bool') return booleanOf(name, isNegated, text)
  if (text === undefined) throw new CliError(`flag --${name} needs a value`)
  if (kind === 'integer' || kind === 'double') return numberOf(flag, text)
  if (choices !== undefined && !choices.includes(text)) {
    throw new CliError(`flag --${name} is one of ${choices.join(', ')}, not "${text}"`)
  }
  return text
}

function booleanOf(name: string, isNegated: boolean, text: string | undefined): boolean {
  if (text === undefined) return !isNegated
  if (isNegated) throw new CliError(`flag --no${name} takes no value`)
  if (/^(?:true|t|yes|y|1)$/i.test(text)) return true
  if (/^(?:false|f|no|n|0)$/i.test(text)) return false
  throw new CliError(`flag --${name} is true or false, not "${text}"`)
}

function numberOf({ name, kind, min, max }: Flag, text: string): number {
  const isInteger = kind === 'integer'
  const pattern = isInteger ? /^[+-]?\d+$/ : /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
  const value = pattern.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(value) || (isInteger && !Number.isSafeInteger(value))) {
    throw new CliError(`flag --${name} is ${isInteger ? 'an integer' : 'a number'}, not "${text}"`)
  }
  if (min !== undefined && value < min) {
    throw new CliError(`flag --${name} is ${text}, at least ${min} is needed`)
  }
  if (max !== undefined && value > max) {
    throw new CliError(`flag --${name} is ${text}, limit is ${max}`)
  }
  return value
}
