import { InspectorHungUp, type SelfTime } from './inspector.ts'
import type { Report } from './report.ts'
import type { BenchService } from './service.ts'

const FUNCTION_COUNT = 20

/**
 * Reports the functions of the service that take most of its time while something goes on. No bar
 * is about them: when the inspector hangs up, the other figures stand.
 */
export async function reportSelfTimes(
  report: Report,
  service: BenchService,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  let times: readonly SelfTime[]
  try {
    times = await service.selfTimes(work)
  } catch (error) {
    if (!(error instanceof InspectorHungUp)) throw error
    process.stdout.write(`  ${name}, functions: not known, ${error.message}\n`)
    return
  }
  for (const { name: of, share, wholeShare } of times.slice(0, FUNCTION_COUNT)) {
    const unit = `%, ${(wholeShare * 100).toFixed(1)} % with what it calls`
    report.add({ name: `${name}, in ${of}`, value: { amount: share * 100, unit } })
  }
}
