import { describe, expect, test } from 'vitest'
import { CliError } from '../../cli/cli-error.ts'
import { type Flag, parseArguments } from '../../cli/flags.ts'

const FLAGS: readonly Flag[] = [
  { name: 'num_threads', kind: 'integer', value: 2, description: '', min: 1, max: 9 },
  { name: 'ratio', kind: 'double', value: 0.5, description: '', min: 0, max: 1 },
  { name: 'run_scan', kind: 'bool', value: false, description: '' },
  { name: 'keep', kind: 'bool', value: true, description: '' },
  { name: 'table_name', kind: 'string', value: '', description: '' },
  { name: 'format', kind: 'string', value: 'a', description: '', choices: ['a', 'b'] },
]
const REFUSED = [{ name: 'txn_start', why: 'there are none' }]

function parse(...words: string[]): ReturnType<typeof parseArguments> {
  return parseArguments(words, FLAGS, REFUSED)
}

describe('parseArguments', () => {
  test('has the values of flags that are not given', () => {
    const { flags, positionals, isHelpAsked } = parse('address')

    expect(positionals).toEqual(['address'])
    expect(isHelpAsked).toBe(false)
    expect(flags.number('num_threads')).toBe(2)
    expect(flags.number('ratio')).toBe(0.5)
    expect(flags.bool('run_scan')).toBe(false)
    expect(flags.text('format')).toBe('a')
    expect(flags.isGiven('num_threads')).toBe(false)
  })

  test.each([
    ['--num_threads=8'],
    ['--num-threads=8'],
    ['-num_threads=8'],
    ['--num_threads', '8'],
    ['--num-threads', '8'],
    ['--num_threads=3', '--num_threads=8'],
  ])('reads %s %s', (...words) => {
    const { flags } = parse(...words)

    expect(flags.number('num_threads')).toBe(8)
    expect(flags.isGiven('num_threads')).toBe(true)
  })

  test.each([
    [['--run_scan'], true],
    [['--run-scan'], true],
    [['--run_scan=true'], true],
    [['--run_scan=1'], true],
    [['--run_scan=false'], false],
    [['--norun_scan'], false],
    [['--run_scan', '--norun-scan'], false],
    [['--no-run-scan'], false],
  ])('reads a boolean of %j', (words, value) => {
    expect(parse(...words).flags.bool('run_scan')).toBe(value)
  })

  test('takes no word for a boolean, and any for a string', () => {
    const { positionals, flags } = parse('--run_scan', 'address', '--table_name', '--odd name')

    expect(positionals).toEqual(['address'])
    expect(flags.text('table_name')).toBe('--odd name')
    expect(parse('--table_name=a=b').flags.text('table_name')).toBe('a=b')
    expect(parse('--table_name=').flags.text('table_name')).toBe('')
  })

  test('takes everything behind -- for words', () => {
    expect(parse('a', '--', '--run_scan', '-1').positionals).toEqual(['a', '--run_scan', '-1'])
  })

  test('hears a cry for help', () => {
    expect(parse('--help').isHelpAsked).toBe(true)
    expect(parse('address', '-h').isHelpAsked).toBe(true)
  })

  test.each([
    [['--nothing'], 'unknown flag --nothing'],
    [['--nokeep=1'], 'flag --nokeep takes no value'],
    [['--run_scan=maybe'], 'flag --run_scan is true or false, not "maybe"'],
    [['--num_threads'], 'flag --num_threads needs a value'],
    [['--num_threads=x'], 'flag --num_threads is an integer, not "x"'],
    [['--num_threads=1.5'], 'flag --num_threads is an integer, not "1.5"'],
    [['--num_threads='], 'flag --num_threads is an integer, not ""'],
    [['--num_threads=99999999999999999'], 'flag --num_threads is an integer, not'],
    [['--num_threads', '-1'], 'flag --num_threads is -1, at least 1 is needed'],
    [['--num_threads=10'], 'flag --num_threads is 10, limit is 9'],
    [['--ratio=2'], 'flag --ratio is 2, limit is 1'],
    [['--ratio=.'], 'flag --ratio is a number, not "."'],
    [['--format=c'], 'flag --format is one of a, b, not "c"'],
    [['--txn_start'], 'flag --txn_start is not taken: there are none'],
    [['--txn-start=1'], 'flag --txn_start is not taken: there are none'],
    [['-1'], '-1 is not a flag'],
  ])('refuses %j', (words, message) => {
    expect(() => parse(...words)).toThrow(CliError)
    expect(() => parse(...words)).toThrow(message)
  })
})
