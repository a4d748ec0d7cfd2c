import type { Report } from './report.ts'
import type { BenchService } from './service.ts'

const FUNCTION_COUNT = 20

/** Reports the functions of the service that take most of its time while something goes on. */
export async function reportSelfTimes(
  report: Report,
  service: BenchService,
  name: string,
  work: () => Promise<unknown>,
): Promise<void> {
  const times = await service.selfTimes(work)
  for (const { name: function_, share } of times.slice(0, FUNCTION_COUNT)) {
    report.add({ name: `${name}, in ${function_}`, value: { amount: share * 100, unit: '%' } })
  }
}
