/** What the tool says about itself. */

import type { Flag } from './flags.ts'
import type { Action, Mode } from './mode.ts'

const WIDTH = 78

/** The help of the whole tool. */
export function toolHelp(modes: readonly Mode[]): string {
  return usage('nyala', modes)
}

/** The help of a mode. */
export function modeHelp(mode: Mode): string {
  return `${mode.description}\n\n${usage(`nyala ${mode.name}`, mode.actions)}`
}

/** The help of an action. */
export function actionHelp(mode: Mode, action: Action): string {
  const words = action.positionals.map(({ name }) => `<${name}>`)
  const about = [
    ...action.positionals.map((it) => entry(it.name, it.description)),
    ...action.flags.map((flag) => entry(`--${flag.name}${shownValue(flag)}`, flag.description)),
  ]
  return [
    `Usage: ${['nyala', mode.name, action.name, ...words].join(' ')} [flags]`,
    '',
    ...wrapped(`${action.description}. ${action.details}`, ''),
    '',
    ...about,
    '',
  ].join('\n')
}

interface Named {
  readonly name: string
  readonly description: string
}

function usage(command: string, things: readonly Named[]): string {
  const width = Math.max(...things.map(({ name }) => name.length))
  const lines = things.map((it) => `  ${it.name.padEnd(width)}  ${it.description}`)
  return [
    `Usage: ${command} <command> [<args>]`,
    '',
    '<command> can be one of the following:',
    ...lines,
    '',
    `\`${command} <command> --help\` tells more.`,
    '',
  ].join('\n')
}

function shownValue({ kind, value, choices }: Flag): string {
  if (choices !== undefined) return `=${choices.join('|')} (default ${value})`
  return kind === 'string' ? `=string (default "${value}")` : `=${kind} (default ${value})`
}

function entry(head: string, description: string): string {
  return [`  ${head}`, ...wrapped(description, '      ')].join('\n')
}

function wrapped(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(indent + line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, indent + line]
}
