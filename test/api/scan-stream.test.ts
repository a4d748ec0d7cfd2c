import { describe, expect, test, vi } from 'vitest'
import type { StreamEncoder } from '../../src/api/format/row-encoder.ts'
import { rowStream } from '../../src/api/scan-stream.ts'
import type { RowBlock } from '../../src/common/row-block.ts'
import type { RowRun } from '../../src/router/row-feed.ts'
import type { ByteArena } from '../../src/util/arena.ts'
import { utf8Encode } from '../../src/util/bytes.ts'
import { aSchema } from '../support/a-schema.ts'
import { aBlock } from '../support/encode-rows.ts'

const { columns } = aSchema('k INT32 KEY')

/** Writes `(`, a letter a row, `)`; or keeps rows until the end. */
class LetterEncoder implements StreamEncoder {
  readonly stepRowCount = 512
  readonly appended: number[] = []
  readonly #isPatient: boolean
  #kept = 0

  constructor(isPatient: boolean) {
    this.#isPatient = isPatient
  }

  get holdsRows(): boolean {
    return this.#kept > 0
  }

  appendHeader(out: ByteArena): void {
    append(out, '(')
  }

  appendRows(_: RowBlock, start: number, end: number, out: ByteArena): void {
    this.appended.push(end - start)
    if (this.#isPatient) this.#kept += end - start
    else append(out, 'r'.repeat(end - start))
  }

  appendFooter(out: ByteArena): void {
    append(out, `${'k'.repeat(this.#kept)})`)
  }
}

function append(out: ByteArena, text: string): void {
  const bytes = utf8Encode(text)
  out.append(bytes, 0, bytes.length)
}

/** A feed of runs of these many rows, each of which has to be waited for. */
class Feed {
  closedCount = 0
  recycledCount = 0
  awaitedCount = 0
  readonly #counts: readonly (number | 'fails')[]
  #hasRun = false

  constructor(counts: readonly (number | 'fails')[]) {
    this.#counts = counts
  }

  take(): RowRun | null {
    if (!this.#hasRun) return null
    this.#hasRun = false
    const count = Number(this.#counts[this.awaitedCount - 1])
    const rows = Array.from({ length: count + 1 }, (_, k) => [k])
    const batch = { block: aBlock(columns, rows), keys: null }
    return { tablet: 0, batch, start: 1, end: count + 1 }
  }

  async more(): Promise<boolean> {
    if (this.awaitedCount === this.#counts.length) return false
    if (this.#counts[this.awaitedCount++] === 'fails') throw new Error('gone')
    this.#hasRun = true
    return true
  }

  recycle(): void {
    this.recycledCount++
  }

  async close(): Promise<void> {
    this.closedCount++
  }
}

const pauses = { next: async () => 2 ** 20 }

async function chunksOf(
  feed: Feed,
  encoder: StreamEncoder,
  rowCountMax = Infinity,
): Promise<string[]> {
  const onFailure = () => undefined
  const stream = rowStream({ feed, encoder, rowCountMax, pauses, onFailure })
  const chunks: string[] = []
  for await (const chunk of stream) chunks.push(new TextDecoder().decode(chunk))
  return chunks
}

describe('rowStream', () => {
  test('begins with the header and ends with the footer, also without rows', async () => {
    const feed = new Feed([])

    expect((await chunksOf(feed, new LetterEncoder(false))).join('')).toBe('()')
    expect(feed.closedCount).toBe(1)
  })

  test('sends what there is before it waits for more', async () => {
    const chunks = await chunksOf(new Feed([2, 1]), new LetterEncoder(false))

    expect(chunks).toEqual(['(', 'rr', 'r', ')'])
  })

  test('waits for as many rows as an encoder keeps', async () => {
    expect(await chunksOf(new Feed([2, 1]), new LetterEncoder(true))).toEqual(['(', 'kkk)'])
  })

  test('gives memory back once its rows are appended, not while they are kept', async () => {
    const [written, kept] = [new Feed([2, 1]), new Feed([2, 1])]
    await chunksOf(written, new LetterEncoder(false))
    await chunksOf(kept, new LetterEncoder(true))

    expect([written.recycledCount, kept.recycledCount]).toEqual([2, 0])
  })

  test('ends with the last row that is wanted, and asks for no more', async () => {
    const feed = new Feed([2, 5, 9])

    expect((await chunksOf(feed, new LetterEncoder(true), 4)).join('')).toBe('(kkkk)')
    expect(feed.awaitedCount).toBe(2)
  })

  test('asks for nothing when no row is wanted', async () => {
    const feed = new Feed([2])

    expect((await chunksOf(feed, new LetterEncoder(false), 0)).join('')).toBe('()')
    expect(feed.awaitedCount).toBe(0)
  })

  test('encodes long runs in steps, into chunks of bounded size', async () => {
    const encoder = new LetterEncoder(false)
    const chunks = await chunksOf(new Feed([500_000]), encoder)

    expect(chunks.join('').length).toBe(500_002)
    expect(Math.max(...encoder.appended)).toBe(512)
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(140_000)
  })

  test('gives what is small without a pause', async () => {
    const next = vi.fn(async () => 2 ** 20)
    const stream = rowStream({
      feed: new Feed([2000, 3000]),
      encoder: new LetterEncoder(false),
      rowCountMax: Infinity,
      pauses: { next },
      onFailure: () => undefined,
    })
    let bytes = 0
    for await (const chunk of stream) bytes += chunk.length

    expect(bytes).toBe(5002)
    expect(next).not.toHaveBeenCalled()
  })

  test('pauses every few chunks', async () => {
    let pauseCount = 0
    const stream = rowStream({
      feed: new Feed([2_000_000]),
      encoder: new LetterEncoder(false),
      rowCountMax: Infinity,
      pauses: {
        next: async () => {
          pauseCount++
          return 500_000
        },
      },
      onFailure: () => undefined,
    })
    let chunkCount = 0
    for await (const _ of stream) chunkCount++

    expect(chunkCount).toBeGreaterThan(12)
    // Four bytes of a row, and one of its text.
    expect(pauseCount).toBeGreaterThan(10_000_000 / 510_000)
    expect(pauseCount).toBeLessThanOrEqual(1 + 10_000_000 / 500_000)
  })

  test('never ends what broke off', async () => {
    const feed = new Feed([2, 'fails'])
    const failures: unknown[] = []
    const onFailure = (error: unknown) => failures.push(error)
    const encoder = new LetterEncoder(false)
    const stream = rowStream({ feed, encoder, rowCountMax: Infinity, pauses, onFailure })

    let text = ''
    const read = async () => {
      for await (const chunk of stream) text += new TextDecoder().decode(chunk)
    }
    await expect(read()).rejects.toThrow('gone')
    expect(text).toBe('(rr')
    expect(failures).toHaveLength(1)
    expect(feed.closedCount).toBe(1)
  })

  test('tells of no failure when its reader goes away while a chunk is made', async () => {
    for (const counts of [
      [2, 2],
      [2, 'fails' as const],
    ]) {
      const feed = new Feed(counts)
      const failures: unknown[] = []
      const onFailure = (error: unknown) => failures.push(error)
      const encoder = new LetterEncoder(true)
      const stream = rowStream({ feed, encoder, rowCountMax: Infinity, pauses, onFailure })
      await stream.cancel('enough')
      await new Promise((resolve) => setImmediate(resolve))

      expect(failures).toEqual([])
      expect(feed.closedCount).toBe(1)
    }
  })
})
