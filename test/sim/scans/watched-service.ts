/** A service that tells which tablet took which rows of a write, and when. */

import type { Cell } from '../../../src/common/data-type.ts'
import { decodeRowBlock } from '../../../src/common/row-block.ts'
import type { RouterPorts } from '../../../src/router/ports.ts'
import type {
  DeleteRowsAnswer,
  DeleteRowsCall,
  TabletStub,
  WriteCall,
} from '../../../src/wire/tablet-protocol.ts'
import { LocalService } from '../../support/local-service.ts'
import type { ModelColumn, Value } from './model-value.ts'

/** One share of a write. */
export interface WatchedShare {
  readonly tabletId: string
  /** When it was applied; null when nothing of it was. */
  readonly at: number | null
  /** The key of each row. */
  readonly keys: readonly (readonly Value[])[]
}

/** What a deletion did in a tablet. */
export interface WatchedDeletion {
  readonly tabletId: string
  /** What told which rows to delete. */
  readonly snapshot: number
  /** When they were deleted; null when there were none. */
  readonly at: number | null
}

/** See the file's header. */
export class WatchedService extends LocalService {
  /** The key columns of the one table. */
  keyColumns: readonly ModelColumn[] = []
  /** Shares since somebody took them away. */
  shares: WatchedShare[] = []
  /** The same of deletions. */
  deletions: WatchedDeletion[] = []

  override front(): RouterPorts {
    const ports = super.front()
    return { ...ports, tablet: (tabletId) => this.#watched(ports.tablet(tabletId), tabletId) }
  }

  #watched(stub: TabletStub, tabletId: string): TabletStub {
    const write = async (call: WriteCall) => {
      const answer = await stub.write(call)
      if (answer.kind === 'ok') {
        this.shares.push({ tabletId, at: answer.value.timestamp, keys: this.#keysOf(call.block) })
      }
      return answer
    }
    const deleteRows = async (call: DeleteRowsCall) => {
      const answer = await stub.deleteRows(call)
      if (answer.kind === 'ok') this.#noteDeletion(tabletId, answer.value)
      return answer
    }
    return new Proxy(stub, {
      get: (target, name) => {
        if (name === 'write') return write
        if (name === 'deleteRows') return deleteRows
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }

  #noteDeletion(tabletId: string, { progress, snapshot }: DeleteRowsAnswer): void {
    // Every row of one share was deleted at the same time.
    if (progress.shareCount > 1) throw new Error('a deletion took several shares')
    this.deletions.push({ tabletId, snapshot, at: progress.timestamp })
  }

  #keysOf(bytes: Uint8Array): Value[][] {
    const block = decodeRowBlock(bytes)
    return Array.from({ length: block.rowCount }, (_, row) => {
      return this.keyColumns.map((column, index) => {
        return valueOfCell(column, block.columns[index].cell(row))
      })
    })
  }
}

/** A cell of the engine as the model holds it. */
export function valueOfCell({ type }: ModelColumn, cell: Cell | null): Value {
  if (cell === null) return null
  if (cell instanceof Uint8Array) {
    return Buffer.from(cell).toString(type === 'BINARY' ? 'hex' : 'utf8')
  }
  if (type === 'BOOL') return cell !== 0
  return type === 'FLOAT' || type === 'DOUBLE' ? Number(cell) : BigInt(cell)
}
