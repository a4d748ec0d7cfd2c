/** Prints `N passed, M failed` from vitest's JSON report. A file that could not run has failed. */
import { readFileSync } from 'node:fs'

interface Report {
  readonly success: boolean
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly { status: string; assertionResults: readonly unknown[] }[]
}

/** An empty report means that vitest did not get as far as writing one. */
function readReport(path: string): Report {
  const text = readFileSync(path, 'utf8')
  if (text !== '') return JSON.parse(text) as Report
  return { success: false, numPassedTests: 0, numFailedTests: 1, testResults: [] }
}

const report = readReport(process.argv[2] ?? '')
const unrunnable = report.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
)
console.log(`${report.numPassedTests} passed, ${report.numFailedTests + unrunnable.length} failed`)
if (!report.success) process.exitCode = 1
