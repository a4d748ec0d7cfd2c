import { describe, expect, test } from 'vitest'
import { PHYSICAL } from '../../src/common/data-type.ts'
import { SCAN_UNREAD_MS_MAX } from '../../src/common/limits.ts'
import { RowBlockBuilder } from '../../src/common/row-block-builder.ts'
import { CorruptionError, StatusError } from '../../src/common/status.ts'
import { Log } from '../../src/server/log.ts'
import { ObjectGuard } from '../../src/server/object-guard.ts'
import { FrameSequence, type FrameSource, ScanStreams } from '../../src/server/scan-streams.ts'
import { AssertionError } from '../../src/util/assert.ts'
import { type ScanFrameBatch, ScanFrameReader } from '../../src/wire/scan-frame.ts'

class QuietLog extends Log {
  override error(): void {}
  override info(): void {}
}

/** Rows 0, 1, 2 … up to a count, in batches of at most `batchRowCount`. */
class CountingSource implements FrameSource {
  batchCount = 0
  isClosed = false
  #next = 0
  readonly #rowCount: number
  readonly #batchRowCount: number

  constructor(rowCount: number, batchRowCount: number) {
    this.#rowCount = rowCount
    this.#batchRowCount = batchRowCount
  }

  nextBatch(rowCountMax: number): ScanFrameBatch | null {
    const count = Math.min(rowCountMax, this.#batchRowCount, this.#rowCount - this.#next)
    if (count === 0) return null
    this.batchCount++
    const builder = new RowBlockBuilder([{ id: 0, physical: PHYSICAL.int32 }], false)
    for (let i = 0; i < count; i++) {
      builder.setNumber(0, this.#next++)
      builder.endRow()
    }
    return { block: builder.view(), keys: null }
  }

  close(): void {
    this.isClosed = true
  }
}

/** What is written is only lent. */
const COPYING: Transformer<Uint8Array, Uint8Array> = {
  transform: (chunk, controller) => controller.enqueue(chunk.slice()),
}

/** An object's surroundings in which time passes when the test says so. */
class Surroundings {
  readonly events: string[] = []
  readonly delays = new Set<() => void>()
  #elapsedMs = 0
  readonly streams: ScanStreams
  sync: () => Promise<void> = async () => {
    this.events.push('synced')
  }

  constructor() {
    const log = new QuietLog('error')
    this.streams = new ScanStreams({
      openPipe: () => new TransformStream(COPYING, undefined, { highWaterMark: 0 }),
      elapsedMs: () => this.#elapsedMs,
      sync: () => this.sync(),
      delay: (work) => {
        this.delays.add(work)
        return () => this.delays.delete(work)
      },
      guard: new ObjectGuard({ abort: (reason) => this.events.push(`ended: ${reason}`) }, log),
      log,
    })
  }

  letTimePass(): void {
    this.#elapsedMs += SCAN_UNREAD_MS_MAX
    for (const work of [...this.delays]) work()
  }
}

/** Lets everything that waits for nothing run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function rowsOf(stream: ReadableStream<Uint8Array>): Promise<number[]> {
  const frames = new ScanFrameReader()
  const rows: number[] = []
  for await (const chunk of stream) {
    frames.push(chunk)
    for (let batch = frames.next(); batch !== null; batch = frames.next()) {
      rows.push(...(batch.block.columns[0].lanes as Int32Array))
    }
  }
  frames.finish()
  return rows
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

describe('ScanStreams', () => {
  test('streams all rows and ends with the end frame', async () => {
    const { streams } = new Surroundings()
    const stream = streams.open(new CountingSource(1000, 300), Number.MAX_SAFE_INTEGER)

    expect(streams.openCount).toBe(1)
    expect(await rowsOf(stream)).toEqual(upTo(1000))
    await settle()
    expect(streams.openCount).toBe(0)
  })

  test('streams no more rows than asked for', async () => {
    const { streams } = new Surroundings()

    expect(await rowsOf(streams.open(new CountingSource(1000, 300), 650))).toEqual(upTo(650))
    expect(await rowsOf(streams.open(new CountingSource(1000, 300), 0))).toEqual([])
  })

  test('makes its first batch only when all that was written is durable', async () => {
    const surroundings = new Surroundings()
    let isDurable = () => {}
    surroundings.sync = () =>
      new Promise<void>((resolve) => {
        isDurable = resolve
      })
    const source = new CountingSource(10, 10)
    const rows = rowsOf(surroundings.streams.open(source, 10))
    await settle()

    expect(source.batchCount).toBe(0)
    isDurable()
    expect(await rows).toEqual(upTo(10))
  })

  test('makes one batch ahead of its reader, not more', async () => {
    const { streams } = new Surroundings()
    const source = new CountingSource(1000, 10)
    const reader = streams.open(source, 1000).getReader()
    await settle()
    expect(source.batchCount).toBe(1)

    await reader.read()
    await settle()
    expect(source.batchCount).toBeLessThanOrEqual(3)
    await reader.cancel()
  })

  test('stops when its reader goes away', async () => {
    const surroundings = new Surroundings()
    const source = new CountingSource(1000, 10)
    const reader = surroundings.streams.open(source, 1000).getReader()
    await reader.read()
    await reader.cancel('enough')
    await settle()
    const { batchCount } = source
    await settle()

    expect(source.batchCount).toBe(batchCount)
    expect(source.isClosed).toBe(true)
    expect(surroundings.streams.openCount).toBe(0)
    expect(surroundings.delays.size).toBe(0)
    expect(surroundings.events).toEqual(['synced'])
  })

  test('is broken off when a frame waits too long to be read', async () => {
    const surroundings = new Surroundings()
    const reader = surroundings.streams.open(new CountingSource(1000, 10), 1000).getReader()
    await reader.read()
    await settle()
    surroundings.letTimePass()
    await settle()

    await expect(
      (async () => {
        for (;;) if ((await reader.read()).done) return 'whole'
      })(),
    ).rejects.toThrow('scan was not read')
    expect(surroundings.streams.openCount).toBe(0)
  })

  test('keeps no timer while nothing waits to be read', async () => {
    const surroundings = new Surroundings()
    const rows = await rowsOf(surroundings.streams.open(new CountingSource(50, 10), 50))
    await settle()

    expect(rows).toHaveLength(50)
    expect(surroundings.delays.size).toBe(0)
  })

  test('ends with an error frame when a batch fails as expected', async () => {
    const surroundings = new Surroundings()
    const source = new CountingSource(1000, 10)
    const failing: FrameSource = {
      nextBatch(rowCountMax) {
        if (source.batchCount === 2) throw new CorruptionError('block 7 of column 3')
        return source.nextBatch(rowCountMax)
      },
      close() {},
    }

    await expect(rowsOf(surroundings.streams.open(failing, 1000))).rejects.toMatchObject({
      code: 'CORRUPTION',
      message: 'block 7 of column 3',
    })
    expect(surroundings.events).toEqual(['synced'])
  })

  test('ends the object and breaks off when a batch fails unexpectedly', async () => {
    const surroundings = new Surroundings()
    const failing: FrameSource = {
      nextBatch() {
        throw new AssertionError('rows are out of order')
      },
      close() {},
    }

    await expect(rowsOf(surroundings.streams.open(failing, 10))).rejects.toThrow()
    expect(surroundings.events).toEqual(['synced', 'ended: internal error in scan'])
  })

  test('ends open streams with an error once it refuses', async () => {
    const { streams } = new Surroundings()
    const reader = streams.open(new CountingSource(1000, 10), 1000).getReader()
    await reader.read()
    streams.refuse(new StatusError('NOT_FOUND', 'table was dropped'))
    reader.releaseLock()
    const later = streams.open(new CountingSource(10, 10), 10)

    await expect(rowsOf(later)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('FrameSequence', () => {
  test('asks its source for nothing when no row is wanted', () => {
    const source = new CountingSource(10, 10)
    const frames = new FrameSequence(source, 0)
    frames.next()

    expect(frames.isEnded).toBe(true)
    expect(source.batchCount).toBe(0)
  })
})
