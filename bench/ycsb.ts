/**
 * YCSB's workloads over REST: records of ten fields of a hundred characters in eight tablets, eight
 * clients, each with one request under way, one record a request.
 *
 *   A  half reads, half updates of one field       D  reads of the newest records, 5 % inserts
 *   B  reads, 5 % updates                          E  scans of up to 100 records, 5 % inserts
 *   C  reads                                       F  half reads, half reads with an update after
 *
 * Records are drawn evenly, or by Zipf's law and then scattered over the keys; those of D the newer
 * the more often. Operations a second, and latencies of each kind of operation. A and C also on a
 * hand-written Durable Object with the same records, in turns.
 */

import { contest, medianCpuMs, rivalFigure, type Side } from './support/contest.ts'
import type { Latencies } from './support/load.ts'
import { Report } from './support/report.ts'
import { type BenchService, startService } from './support/service.ts'
import type { Size } from './support/size.ts'
import { maintainTable } from './support/tables.ts'
import {
  type Distribution,
  type Kind,
  type Mix,
  type Place,
  YCSB_TABLE,
  YcsbClient,
} from './support/ycsb-client.ts'

const RECORD_COUNTS: Readonly<Record<Size, number>> = { smoke: 2_000, full: 100_000 }
const OPERATION_COUNTS: Readonly<Record<Size, number>> = { smoke: 300, full: 2_000 }
/** A scan is worth many reads. */
const SCAN_COUNTS: Readonly<Record<Size, number>> = { smoke: 60, full: 200 }
const ROUNDS: Readonly<Record<Size, number>> = { smoke: 1, full: 3 }
interface Workload {
  readonly name: string
  readonly distributions: readonly Distribution[]
  /** What is done, with the share of it. */
  readonly mix: Mix
}

const BOTH = ['uniform', 'zipfian'] as const
const WORKLOADS: readonly Workload[] = [
  { name: 'A', distributions: BOTH, mix: { read: 0.5, update: 0.5 } },
  { name: 'B', distributions: BOTH, mix: { read: 0.95, update: 0.05 } },
  { name: 'C', distributions: BOTH, mix: { read: 1 } },
  { name: 'F', distributions: BOTH, mix: { read: 0.5, 'read-modify-write': 0.5 } },
  { name: 'D', distributions: ['latest'], mix: { read: 0.95, insert: 0.05 } },
  { name: 'E', distributions: BOTH, mix: { scan: 0.95, insert: 0.05 } },
]
const RIVAL_WORKLOADS = ['A', 'C']

/** See the file's header. */
export async function run(size: Size): Promise<void> {
  const report = new Report('ycsb', size)
  const service = await startService({ rivals: ['object'] })
  try {
    const client = new YcsbClient(service)
    await client.load(RECORD_COUNTS[size])
    if (size === 'full') await maintainTable(service.address, YCSB_TABLE)
    for (const workload of WORKLOADS) {
      for (const distribution of workload.distributions) {
        await reportWorkload(report, service, client, { workload, distribution, size })
      }
    }
    const recordCount = await client.check()
    report.add({ name: 'in the end', value: { amount: recordCount, unit: 'records' } })
    report.close(service.peakBytes())
  } finally {
    await service.close()
  }
}

interface Task {
  readonly workload: Workload
  readonly distribution: Distribution
  readonly size: Size
}

async function reportWorkload(
  report: Report,
  { cpuMs }: BenchService,
  client: YcsbClient,
  { workload, distribution, size }: Task,
): Promise<void> {
  const { name, mix } = workload
  const isRivalled = RIVAL_WORKLOADS.includes(name)
  const operations = (mix.scan === undefined ? OPERATION_COUNTS : SCAN_COUNTS)[size]
  const sideOf = (place: Place, latencies: Map<Kind, Latencies>): Side => ({
    name: place.address,
    rows: operations,
    run: async (round) => {
      if (round <= 0) latencies.clear()
      await client.run(place, { mix, distribution, operations, round, latencies })
    },
  })
  const latencies = new Map<Kind, Latencies>()
  const sides = [sideOf(client.table, latencies)]
  const rivalLatencies = new Map<Kind, Latencies>()
  if (isRivalled) sides.push(sideOf(client.object, rivalLatencies))
  const [ours, rival] = (await contest(ROUNDS[size], sides, cpuMs)).values()
  const title = `${name} ${distribution}`
  report.add({
    name: `${title}, operations`,
    rows: operations,
    milliseconds: ours.milliseconds,
    cpuMs: medianCpuMs(ours),
    ...(rival === undefined ? {} : { rival: rivalFigure('object', ours, rival) }),
  })
  reportLatencies(report, title, latencies)
  reportLatencies(report, `${title}, object`, rivalLatencies)
}

function reportLatencies(report: Report, title: string, kinds: Map<Kind, Latencies>): void {
  for (const [kind, times] of kinds) {
    for (const share of [0.5, 0.95, 0.99]) {
      const value = { amount: times.percentile(share), unit: 'ms' }
      report.add({ name: `${title}, ${kind}, p${share * 100}`, value })
    }
  }
}
