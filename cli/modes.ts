/** All modes of the tool. */

import type { Mode } from './mode.ts'
import { PERF_MODE } from './perf/perf-mode.ts'

/** In the order in which help lists them. */
export const MODES: readonly Mode[] = [PERF_MODE]
