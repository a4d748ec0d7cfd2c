import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { DecodedRows } from '../../src/api/format/decoded-rows.ts'
import { NdjsonDecoder } from '../../src/api/format/ndjson-decoder.ts'
import { DEFAULT_VALUE_OPTIONS } from '../../src/common/cell-json.ts'
import { decodeRowBlock } from '../../src/common/row-block.ts'
import { ROW_OPERATIONS } from '../../src/common/row-operation.ts'
import { CallBudget } from '../../src/router/call-budget.ts'
import type { RouterPorts } from '../../src/router/ports.ts'
import { TableCache } from '../../src/router/table-cache.ts'
import { callContext } from '../../src/router/tablet-caller.ts'
import { WriteSession } from '../../src/router/write-session.ts'
import type { TabletStub, WriteAnswer, WriteCall } from '../../src/wire/tablet-protocol.ts'
import { aNewTable } from '../support/a-table.ts'
import { LocalService } from '../support/local-service.ts'

const ROWS = 1_000_000
const CHUNK_BYTES = 256 * 1024
const MIB = 2 ** 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes held after a collection: objects and buffers. */
function heldBytes(): number {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** A tablet that counts rows and keeps nothing. */
class CountingTablet {
  rowCount = 0

  async write(call: WriteCall): Promise<{ kind: 'ok'; clock: number; value: WriteAnswer }> {
    const { rowCount } = decodeRowBlock(call.block)
    this.rowCount += rowCount
    const none = {
      rows: new Uint32Array(0),
      codes: new Uint8Array(0),
      columnIds: new Int32Array(0),
    }
    const counts = {
      inserted: rowCount,
      upserted: 0,
      updated: 0,
      deleted: 0,
      ignored: 0,
      failed: 0,
    }
    const value = { timestamp: 1, ...counts, created: rowCount, errors: none, isReplayed: false }
    return { kind: 'ok', clock: call.clock, value }
  }
}

/** NDJSON in chunks that end anywhere, in one buffer that is used again and again. */
function* chunks(): Generator<{ bytes: Uint8Array; rows: number }> {
  const buffer = Buffer.alloc(CHUNK_BYTES + 256)
  let length = 0
  for (let id = 0; id < ROWS; id++) {
    length += buffer.write(`{"id":${id},"value":"some text of row ${id}"}\n`, length)
    if (length < CHUNK_BYTES && id < ROWS - 1) continue
    const cut = Math.min(length, CHUNK_BYTES)
    yield { bytes: buffer.subarray(0, cut), rows: id + 1 }
    buffer.copyWithin(0, cut, length)
    length -= cut
  }
  if (length > 0) yield { bytes: buffer.subarray(0, length), rows: ROWS }
}

describe('WriteSession', () => {
  test('takes a million lines of NDJSON in flat memory', { timeout: 120_000 }, async () => {
    const service = new LocalService({ seed: 1 })
    service.createTable(aNewTable('lines', ['id INT32 KEY', 'value STRING NULL'], 8))
    const tablet = new CountingTablet()
    const ports: RouterPorts = {
      ...service.front(),
      tablet: () => tablet as unknown as TabletStub,
    }
    const cache = new TableCache(ports)
    const ref = { name: 'lines' }
    const { table, isConfirmed } = await cache.open(ref)
    const context = callContext(ports, new CallBudget())
    const session = new WriteSession(context, cache, table, { ref, clientKey: null, isConfirmed })
    const rows = new DecodedRows(table.schema)
    const decoder = new NdjsonDecoder(
      table.schema,
      DEFAULT_VALUE_OPTIONS,
      ROW_OPERATIONS.INSERT,
      rows,
    )
    const held: number[] = []
    let nextTenth = ROWS / 10

    for (const chunk of chunks()) {
      for (let at = 0; at < chunk.bytes.length; ) {
        at = decoder.pushUntilFull(chunk.bytes, at)
        await session.add({ block: rows.builder.view(), rowIndexes: rows.rowIndexes })
        rows.clear()
      }
      if (chunk.rows < nextTenth) continue
      nextTenth += ROWS / 10
      held.push(heldBytes())
    }
    decoder.finish()
    await session.add({ block: rows.builder.view(), rowIndexes: rows.rowIndexes })
    const summary = await session.finish()

    expect(summary).toMatchObject({ rows: ROWS, inserted: ROWS, failed: 0 })
    expect(tablet.rowCount).toBe(ROWS)
    const early = held[0] / MIB
    const late = held[8] / MIB
    process.stdout.write(
      `ndjson memory: ${early.toFixed(1)} MiB at 10 %, ${late.toFixed(1)} MiB at 90 %\n`,
    )
    // Shares in the making may differ by what one of them holds at most.
    expect(late - early).toBeLessThan(16)
  })
})
