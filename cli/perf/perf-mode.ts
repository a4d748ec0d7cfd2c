/** `nyala perf`: measuring. */

import type { Mode } from '../mode.ts'
import { LOADGEN } from './loadgen.ts'

/** The mode. */
export const PERF_MODE: Mode = {
  name: 'perf',
  description: 'Measure the performance of a service',
  actions: [LOADGEN],
}
