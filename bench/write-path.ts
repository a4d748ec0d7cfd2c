/**
 * Five changes of Kudu's write path, each measured against what was before it. `after` is the
 * engine as it is; `before` is the same engine with one part replaced (`bench/before/`): the
 * smallest one that works as Kudu's did. Kudu's own figures stand beside; where the part that was
 * replaced cannot cost so much here, that is what is printed.
 *
 * Rows are prepared before, as the blocks of bytes that a front sends; tablets keep a hundred
 * thousand of them in memory and are not flushed. What is measured is the CPU of the process while
 * they are written, collection of garbage and compilation on other threads included, in turns in
 * one run. Both sides must end with the same rows.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { median, spread } from './support/in-turns.ts'
import type { MeasuredChange } from './support/measure-change.ts'
import { Report } from './support/report.ts'
import type { Size } from './support/size.ts'
import { CHANGES, type Change } from './support/write-path-changes.ts'

const MEASURE = join(import.meta.dirname, 'support', 'measure-change.ts')

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('write-path', size)
  for (const [number, change] of CHANGES.entries()) {
    tell(report, size, change, await measured(number, size))
  }
  report.close()
}

async function measured(number: number, size: Size): Promise<MeasuredChange> {
  const child = fork(MEASURE, [String(number), size])
  const answered = once(child, 'message')
  const ended = once(child, 'exit').then(([code]) => {
    if (code !== 0) throw new Error(`a process ended with ${code}`)
    return answered
  })
  const [message] = await Promise.race([answered, ended])
  await ended
  return message as MeasuredChange
}

function tell(report: Report, size: Size, change: Change, found: MeasuredChange): void {
  const { opRows, kudu } = change
  const { rows, hash, ratios } = found
  const name = `${change.name}, ${opRows} ${opRows === 1 ? 'row' : 'rows'} an op`
  const sides = { after: found.afterCpuMs, before: found.beforeCpuMs }
  for (const [side, runs] of Object.entries(sides)) {
    const cpuMs = median(runs)
    const value = { amount: (cpuMs * 1e6) / rows, unit: 'ns of CPU a row' }
    report.add({ name: `${name}, ${side}`, rows, cpuMs, hash, value })
  }
  const saved = ratios.map((ratio) => (1 - 1 / ratio) * 100)
  const told = kudu === null ? '' : `, Kudu ${kudu.took}`
  report.add({
    name: `${name}, saved ${spread(saved, 1)} % of before${told}`,
    value: { amount: median(saved), unit: '% of CPU saved' },
    ...(kudu === null ? {} : { bar: { atLeast: kudu.percent } }),
  })
  if (size === 'full' && kudu !== null && median(saved) < kudu.percent) {
    process.stdout.write('    less than Kudu saved: reported as it is\n')
  }
}
