/** All writers at work on one operation, and the report of what came of it. */

import { CliError } from '../cli-error.ts'
import type { RestService } from '../rest/rest-service.ts'
import { type LoadPhase, LoadWriter } from './load-writer.ts'

/**
 * Runs the writers, each up to its own limit of rows, prints the report, and shows errors.
 *
 * Returns: the rows that each generated. Throws: CliError when any row was not written.
 */
export async function runWriters(
  phase: LoadPhase,
  rowLimits: readonly number[],
  services: readonly RestService[],
): Promise<readonly number[]> {
  const { ports, progress } = phase
  const startedAt = ports.nowMs()
  const writers = rowLimits.map(
    (_, index) => new LoadWriter(phase, index, services[index % services.length]),
  )
  try {
    await Promise.all(writers.map((writer, index) => writer.run(rowLimits[index])))
  } finally {
    progress.close()
  }
  report(phase, writers, ports.nowMs() - startedAt)
  return writers.map((writer) => writer.rowCount)
}

function report(phase: LoadPhase, writers: readonly LoadWriter[], totalMs: number): void {
  const { operation, ports } = phase
  const rowCount = writers.reduce((sum, writer) => sum + writer.rowCount, 0)
  const errorCount = writers.reduce((sum, writer) => sum + writer.errorCount, 0)
  writers.forEach((writer, index) => {
    if (writer.shownErrors.length === 0) return
    const lines = writer.shownErrors.map((error) => `  ${error}\n`)
    ports.err(`Error from generator ${String(index).padStart(4)}:\n${lines.join('')}\n`)
  })
  ports.out(`\n${operation} report\n`)
  ports.out(`    rows total: ${rowCount}\n`)
  ports.out(`    time total: ${sixDigits(totalMs)} ms\n`)
  // When rows failed, the time of a row tells nothing.
  if (rowCount > 0 && errorCount === 0) {
    ports.out(`  time per row: ${sixDigits(totalMs / rowCount)} ms\n`)
  }
  const failure = writers.find((writer) => writer.failure !== null)?.failure ?? null
  if (failure === null && errorCount === 0) return
  const errors = errorCount === 0 ? [] : [`encountered ${errorCount} write operation errors`]
  throw new CliError([...(failure === null ? [] : [failure]), ...errors].join('; '))
}

function sixDigits(number: number): string {
  return String(Number(number.toPrecision(6)))
}
