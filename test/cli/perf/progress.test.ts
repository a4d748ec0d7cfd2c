import { describe, expect, test } from 'vitest'
import { Progress } from '../../../cli/perf/progress.ts'
import type { CliPorts } from '../../../cli/ports.ts'

/** Shows a progress once, after two seconds and 3,000 rows. */
function shown(isErrTerminal: boolean, total: number): { text: string; everyMs: number } {
  let text = ''
  let now = 1000
  let everyMs = 0
  let show: () => void = () => undefined
  const ports = {
    isErrTerminal,
    nowMs: () => now,
    err: (piece: string) => {
      text += piece
    },
    every: (ms: number, work: () => void) => {
      everyMs = ms
      show = work
      return () => {
        show = () => undefined
      }
    },
  } as Partial<CliPorts> as CliPorts
  const progress = new Progress('INSERT', total, ports)
  progress.add(1000)
  progress.add(2000)
  now += 2000
  show()
  progress.close()
  show()
  return { text, everyMs }
}

describe('Progress', () => {
  test('writes a line over and over on a terminal, and takes it away', () => {
    expect(shown(true, 8000)).toEqual({
      text: '\r\u001b[2KINSERT 3,000 of 8,000 rows, 1,500 rows/s\r\u001b[2K',
      everyMs: 200,
    })
  })

  test('writes a line every few seconds elsewhere', () => {
    expect(shown(false, Number.POSITIVE_INFINITY)).toEqual({
      text: 'INSERT 3,000 rows, 1,500 rows/s\n',
      everyMs: 5000,
    })
  })
})
