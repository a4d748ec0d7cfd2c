/** What all tablets of this isolate hold together: the platform puts several objects into one. */

import { STORE_MEMORY_BYTES_MAX } from '../common/limits.ts'
import { MemoryAccountant } from '../tablet/memory-accountant.ts'

/** The accountant that every tablet object of the isolate shares. */
export const isolateMemory = new MemoryAccountant(STORE_MEMORY_BYTES_MAX)
