/**
 * Bugs that the simulator must find: `npm run sim -- --planted` plants each in a copy of the tree
 * and waits until a law does not hold.
 */

/** A bug, as a change of one place in a source file. */
export interface PlantedBug {
  readonly name: string
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly text: string
  readonly replacement: string
}

const TABLET = 'src/tablet'
const MAINTENANCE = 'src/tablet/maintenance'

/** See the file's header. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'UNDO records are given out latest first',
    file: `${MAINTENANCE}/row-history.ts`,
    text: 'for (let record = count - 1; record >= 0; record--) {',
    replacement: 'for (let record = 0; record < count; record++) {',
  },
  {
    name: 'an UNDO of two changes at one time leads to the first of them',
    file: `${TABLET}/memory/row-undos.ts`,
    text: 'if (wasLive && isLive) this.#addUpdate(slot, ordinal, at, start, end, records)',
    replacement:
      'if (wasLive && isLive) {\n' +
      '        this.#apply(start, end - 1)\n' +
      '        this.#addUpdate(slot, ordinal, at, start, end, records)\n' +
      '      }',
  },
  {
    name: 'a WAL generation is missed in replay',
    file: `${TABLET}/wal.ts`,
    text: 'for (const generation of this.#live) {\n      readGeneration(',
    replacement: 'for (const generation of this.#live.slice(-2)) {\n      readGeneration(',
  },
  {
    name: 'a bit of the Bloom filter is off by one',
    file: 'src/cfile/bloom-filter.ts',
    text: 'words[first + (bit >>> 5)] |= 1 << (bit & 31)',
    replacement: 'words[first + (bit >>> 5)] |= 1 << ((bit + 1) & 31)',
  },
  {
    name: 'a delta is applied twice: replay does not look at the mark',
    file: `${TABLET}/replay-op.ts`,
    text: '  if (at <= rowSet.meta.mark) return true\n',
    replacement: '',
  },
  {
    name: 'a delta is applied twice: a compaction carries it over twice',
    file: `${MAINTENANCE}/late-changes.ts`,
    text: 'this.#next[source] = next\n',
    replacement: 'this.#next[source] = Math.max(this.#next[source], next - 1)\n',
  },
  {
    name: 'a change made while a compaction runs is not carried over',
    file: `${MAINTENANCE}/compact-row-sets-task.ts`,
    text: 'if (changes.count > 0) rowSet.appendDeltas(changes)',
    replacement: 'if (changes.count > 1) rowSet.appendDeltas(changes)',
  },
  {
    name: 'a lock is released early, by the op that comes next',
    file: `${TABLET}/write-section.ts`,
    text: '    parts.locks.releaseBatch(opNumber)\n',
    replacement:
      '    parts.locks.releaseBatch(opNumber)\n    parts.locks.releaseBatch(opNumber - 1)\n',
  },
  {
    name: 'a ghost is counted among the live rows',
    file: `${MAINTENANCE}/row-set-flush.ts`,
    text: 'liveRowCount: base.rowCount - ghostCount,',
    replacement: 'liveRowCount: base.rowCount,',
  },
  {
    name: 'the zone map of a page ends one too low',
    file: 'src/cfile/zone-map.ts',
    text: 'if (!isMaxCut) return compareCells(physical, value, max) <= 0',
    replacement: 'if (!isMaxCut) return compareCells(physical, value, max) < 0',
  },
  {
    name: 'an insert that was refused is replayed',
    file: `${TABLET}/replay-op.ts`,
    text: 'if (outcomes[row] !== ROW_OUTCOMES.INSERT || slots[row] !== ABSENT_SLOT) return false',
    replacement: 'if (slots[row] !== ABSENT_SLOT) return false',
  },
  {
    name: 'a file is begun and the superblock does not know',
    file: `${TABLET}/tablet-parts.ts`,
    text: '    const writers = this.#createFiles(count)\n    this.writeSuperblock()\n',
    replacement: '    const writers = this.#createFiles(count)\n',
  },
  {
    name: 'a file is dropped while it is being written',
    file: `${TABLET}/tablet-parts.ts`,
    text: '(file) => this.pins.isPinned(file) || writers.some((writer) => writer.file === file),',
    replacement: '(file) => this.pins.isPinned(file),',
  },
  {
    name: 'history is dropped that may be read',
    file: `${TABLET}/tablet-parts.ts`,
    text: 'Math.min(now - historyMaxAgeMicros(this.identity), this.wal.firstTimestamp - 1)',
    replacement:
      'Math.min(now - historyMaxAgeMicros(this.identity) + 9_000_000, this.wal.firstTimestamp - 1)',
  },
  {
    name: 'history is dropped that replay needs',
    file: `${TABLET}/tablet-parts.ts`,
    text: 'Math.min(now - historyMaxAgeMicros(this.identity), this.wal.firstTimestamp - 1)',
    replacement: 'now - historyMaxAgeMicros(this.identity)',
  },
  {
    name: 'a WAL generation is dropped while rows are being flushed',
    file: `${TABLET}/tablet-parts.ts`,
    text: 'if (frozen !== null) anchor = Math.min(anchor, frozen.memRowSet.firstAt)',
    replacement: 'if (frozen !== null) anchor = Math.min(anchor, frozen.at + 1)',
  },
  {
    name: 'a WAL generation is dropped when its first entry is durable',
    file: `${TABLET}/wal.ts`,
    text: 'while (count < closedCount && this.#live[count].lastTimestamp < anchor) count++',
    replacement: 'while (count < closedCount && this.#live[count].firstTimestamp < anchor) count++',
  },
  {
    name: 'remembered results are lost with the generation that had them',
    file: `${TABLET}/tablet-parts.ts`,
    text: 'this.wal.resultsUntilOf(walCount) > now',
    replacement: 'this.wal.resultsUntilOf(walCount - 1) > now',
  },
  {
    name: 'changes to a MemRowSet that is being flushed are lost at the commit',
    file: `${MAINTENANCE}/flush-mem-row-set-task.ts`,
    text: 'if (records.count > 0) rowSet.appendDeltas(records.finish())',
    replacement: 'if (records.count > 99) rowSet.appendDeltas(records.finish())',
  },
  {
    name: 'a flush of changes says that later ones are durable too',
    file: `${MAINTENANCE}/flush-delta-task.ts`,
    text: 'replace.push(replacementOf(rowSet, stores, redo, mark))',
    replacement: 'replace.push(replacementOf(rowSet, stores, redo, parts.lastApplied))',
  },
  {
    name: 'a compaction keeps the wrong life of a key',
    file: `${MAINTENANCE}/merge-planner.ts`,
    text: 'if (deletedAt(order[life]) > deletedAt(base)) base = order[life]',
    replacement: 'if (deletedAt(order[life]) < deletedAt(base)) base = order[life]',
  },
  {
    name: 'the oldest life of a key is left out of its history',
    file: `${MAINTENANCE}/merge-planner.ts`,
    text: 'if (window === base || deletedAt(window) <= this.#mark) continue',
    replacement: 'if (window === base || deletedAt(window) <= this.#mark || life > 1) continue',
  },
  {
    name: 'the upper bound of a rowset is off by one key',
    file: `${TABLET}/disk/row-set-tree.ts`,
    text: 'firstAtOrAbove(keys, order, probe.start, before.end, upper)',
    replacement:
      'Math.max(probe.start, firstAtOrAbove(keys, order, probe.start, before.end, upper) - 1)',
  },
  {
    name: 'a scan skips a rowset that begins where it is told to look',
    file: `${TABLET}/disk/row-set-tree.ts`,
    text: 'if (!isBelow(lowerKey, this.#uppers[stretch])) return',
    replacement: 'if (!isBelow(lowerKey, this.#uppers[stretch]) || lowerKey.length > 0) return',
  },
  {
    name: 'a file that a scan held is forgotten',
    file: `${TABLET}/storage-change.ts`,
    text: '    if (isHeld(file)) orphans.add(file)\n    else dropped.push(file)\n',
    replacement: '    if (!isHeld(file)) dropped.push(file)\n',
  },
  {
    name: 'a file is dropped under an open scan',
    file: `${TABLET}/tablet-parts.ts`,
    text: '(file) => this.pins.isPinned(file) || writers.some((writer) => writer.file === file),',
    replacement: '(file) => writers.some((writer) => writer.file === file),',
  },
  {
    name: 'a scan that has ended holds on to its files',
    file: `${TABLET}/disk/disk-row-set.ts`,
    text: '      pins.unpin(files)\n',
    replacement: '',
  },
  {
    name: 'the delete bitmap does not learn of a delete',
    file: `${TABLET}/disk/disk-row-set.ts`,
    text: '    setBit(this.#deleted, ordinal)\n',
    replacement: '',
  },
  {
    name: 'the delete bitmap does not learn of what was carried over',
    file: `${TABLET}/disk/disk-row-set.ts`,
    text: '    this.deltas.append(records)\n    this.#deleted = null\n',
    replacement: '    this.deltas.append(records)\n    this.#deleted = NONE_DELETED\n',
  },
  {
    name: 'replay changes the wrong life of a key',
    file: `${TABLET}/replay-op.ts`,
    text: 'return rowSet.wasLiveBefore(ordinal, at)',
    replacement: 'return !rowSet.wasLiveBefore(ordinal, at)',
  },
  {
    name: 'a snapshot that was shown does not outlive a restart',
    file: `${TABLET}/tablet.ts`,
    text: 'if (!isStored && this.#clock.mustOutliveRestart(snapshot)) {',
    replacement: 'if (!isStored && this.#clock.mustOutliveRestart(snapshot - 1_000_000)) {',
  },
  {
    name: 'a row that an op inserts is looked for where its key was before',
    file: `${TABLET}/row-decider.ts`,
    text: '      keyStores[leader] = STORES.ACTIVE\n',
    replacement: '',
  },
  {
    name: 'a major compaction forgets deletes',
    file: `${MAINTENANCE}/major-delta-task.ts`,
    text: '(redo) => redo.deleteCount > 0 || others.some(({ id }) => redo.cellCount(id) > 0),',
    replacement: '(redo) => others.some(({ id }) => redo.cellCount(id) > 0),',
  },
  {
    name: 'blocks that a major compaction replaced are left',
    file: `${MAINTENANCE}/major-delta-task.ts`,
    text: '      unusedBlocks: blocksByFile(replacedBlocks),\n',
    replacement: '      unusedBlocks: blocksByFile(replacedBlocks.slice(1)),\n',
  },
  {
    name: 'what a scan held of a flushed store is never given back',
    file: `${TABLET}/disk/disk-row-set.ts`,
    text: 'this.#retired = this.#retired.filter(isRead)\n    this.#retiredBytes = 0\n',
    replacement: 'this.#retired = this.#retired.filter(isRead)\n',
  },
]
