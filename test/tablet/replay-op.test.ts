import { describe, expect, test } from 'vitest'
import { Schema } from '../../src/common/schema.ts'
import { CorruptionError } from '../../src/common/status.ts'
import { aColumnDefinition } from '../support/a-schema.ts'
import { asImmutable, withDefault } from '../support/a-table-entry.ts'
import type { PlainOperation } from '../support/a-write-block.ts'
import { TabletStory } from '../support/tablet-story.ts'

const SCHEMA = new Schema([
  aColumnDefinition('k INT32 KEY', 10),
  aColumnDefinition('v INT32 NULL', 11),
  withDefault(aColumnDefinition('d INT32', 12), 7),
  asImmutable(aColumnDefinition('i INT32 NULL', 13)),
])

function insert(k: number, v: number): PlainOperation {
  return ['INSERT', { k, v }]
}

function update(k: number, v: number): PlainOperation {
  return ['UPDATE', { k, v }]
}

function remove(k: number): PlainOperation {
  return ['DELETE', { k }]
}

function inserts(start: number, end: number): PlainOperation[] {
  return Array.from({ length: end - start }, (_, i) => insert(start + i, i))
}

/** Tells a story, and checks it after every crash. */
function tell(steps: (story: TabletStory) => void): TabletStory {
  const story = new TabletStory(SCHEMA)
  steps(story)
  story.check()
  return story
}

describe('replayOp', () => {
  test('leaves out inserts that were flushed, and takes in those after', () => {
    const story = tell((story) => {
      story.write([insert(1, 1), insert(3, 3)])
      story.flush()
      story.write([insert(2, 2)])
    })

    expect(story.harness.parts.rowSets).toHaveLength(1)
    expect(story.harness.parts.memRowSet.rowCount).toBe(1)
  })

  test('brings changes made during a flush to the new rowset, or to the MemRowSet again', () => {
    const story = tell((story) => {
      story.write([...inserts(1, 6)])
      story.write([update(1, 10), remove(5)])
      story.beginFlush()
      story.write([update(1, 11), update(2, 12), insert(7, 7)])
      story.write([remove(3), update(7, 17)])
      story.write([update(2, 22)])
      story.endFlush()
      story.write([update(2, 32), remove(1)])
    })

    expect(story.harness.parts.rowSets[0].meta.rowCount).toBe(5)
  })

  test('takes in a key that came back while its former life was being flushed', () => {
    tell((story) => {
      story.write([insert(1, 1), insert(2, 2)])
      story.beginFlush()
      story.write([remove(1)])
      story.write([insert(1, 10)])
      story.write([update(1, 11), remove(2), insert(2, 20)])
      story.endFlush()
      story.write([update(1, 12), update(2, 21)])
      story.flush()
      story.write([remove(1)])
    })
  })

  test('knows a row deleted on disk from one inserted since, before and after its flush', () => {
    const story = tell((story) => {
      story.write([insert(1, 1), insert(2, 2)])
      story.flush()
      story.write([remove(1)])
      story.write([insert(1, 10)])
      story.write([update(1, 11), update(2, 12)])
      story.flush()
      story.write([update(1, 12)])
      story.flushDeltas()
      story.write([update(1, 13)])
    })

    expect(story.harness.parts.rowSets).toHaveLength(2)
  })

  test('follows one op that deletes on disk, inserts, changes, deletes and inserts again', () => {
    tell((story) => {
      story.write([insert(1, 1), insert(2, 2), insert(3, 3)])
      story.flush()
      story.write([
        update(1, 5),
        remove(1),
        insert(1, 6),
        update(1, 7),
        remove(1),
        insert(1, 8),
        update(1, 9),
        remove(2),
        insert(2, 20),
        remove(2),
        remove(3),
        insert(3, 30),
      ])
      story.write([update(1, 10), insert(2, 21)])
      story.flush()
      story.write([update(1, 11), update(2, 22), remove(3)])
      story.flushDeltas()
    })
  })

  test('never changes on disk what is left of a row that its op deleted and inserted', () => {
    const story = tell((story) => {
      story.write([insert(1, 1), insert(2, 2)])
      story.flush()
      // Anchors the WAL, so that the op below is replayed after its insert was flushed.
      story.write([update(2, 3)])
      story.write([remove(1), insert(1, 6), update(1, 7)])
      story.flush()
    })

    expect(story.harness.parts.wal.generations.length).toBeGreaterThan(1)
  })

  test('passes over a row that one op inserted and deleted', () => {
    tell((story) => {
      story.write([insert(1, 1)])
      story.write([insert(2, 2), update(2, 3), remove(2)])
      story.write([insert(3, 3), remove(3), insert(3, 4), remove(3)])
      story.flush()
      story.write([update(1, 2)])
      story.write([insert(2, 2)])
    })
  })

  test('follows several lives of one key in several rowsets', () => {
    const story = tell((story) => {
      // Keeps all of the WAL: the first change on disk is never flushed.
      story.write([insert(9, 9)])
      story.flush()
      story.write([update(9, 10)])
      for (let life = 1; life <= 4; life++) {
        story.write([insert(1, life * 10), insert(100 + life, 1)])
        story.write([update(1, life * 10 + 1)])
        story.flush()
        story.write([update(1, life * 10 + 2)])
        if (life % 2 === 0) story.write([update(1, life * 10 + 3), remove(1)])
        else story.write([remove(1)])
      }
      story.write([insert(1, 99)])
      story.write([update(1, 100)])
    })

    expect(story.harness.parts.rowSets).toHaveLength(5)
    expect(story.harness.parts.wal.generations.length).toBeGreaterThan(4)
  })

  test('brings back changes only, when nothing else was written', () => {
    const story = tell((story) => {
      story.write(inserts(0, 50))
      story.flush()
      for (let round = 0; round < 3; round++) {
        story.write(Array.from({ length: 40 }, (_, k) => update(k, round * 100 + k)))
        if (round === 1) story.flushDeltas()
      }
      story.write([
        ['UPSERT_IGNORE', { k: 3, v: 1, i: 5 }],
        ['UPSERT', { k: 4 }],
      ])
    })

    expect(story.harness.parts.memRowSet.rowCount).toBe(0)
    expect(story.harness.parts.rowSets[0].redos).toHaveLength(1)
  })

  test('brings nothing back of a load of duplicates', () => {
    const story = tell((story) => {
      story.write(inserts(0, 20))
      story.flush()
      for (let round = 0; round < 3; round++) story.write(inserts(0, 20))
      story.write([insert(3, 5), insert(21, 1)])
    })

    expect(story.harness.parts.memRowSet.rowCount).toBe(1)
  })

  test('reads nothing of files when all of the WAL is in them', () => {
    const story = new TabletStory(SCHEMA)
    story.write(inserts(0, 100))
    story.flush()
    story.write([update(1, 2)])
    story.flushDeltas()
    const { store } = story.harness.fork(story.harness.store.committedCount)

    // The superblock; the open generation is empty.
    expect(store.rowsRead).toBe(1)
  })

  test('tells of a change to a row that is nowhere', () => {
    const story = new TabletStory(SCHEMA)
    story.write([insert(1, 1)])
    story.write([update(1, 2)])
    story.harness.store.loseWalRow(1, 1)

    expect(() => story.harness.evict()).toThrow(CorruptionError)
  })
})
