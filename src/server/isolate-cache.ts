/** The page cache of all tablets of this isolate: the platform puts several objects into one. */

import { PageCache } from '../cfile/page-cache.ts'
import { PAGE_CACHE_BYTES_MAX } from '../common/limits.ts'

/** The cache that every tablet object of the isolate shares. */
export const isolateCache = new PageCache(PAGE_CACHE_BYTES_MAX)
