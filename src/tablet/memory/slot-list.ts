const CAPACITY_MIN = 16

/** Numbers of rows, appended one by one. Hot: `items[0, count)` is read through by loops. */
export class SlotList {
  /** Replaced when it grows. */
  items: Uint32Array = new Uint32Array(0)
  count = 0

  /** Bytes held in memory, spare capacity included. */
  get heldBytes(): number {
    return this.items.byteLength
  }

  /** Appends a number. */
  push(item: number): void {
    if (this.count === this.items.length) this.#grow()
    this.items[this.count++] = item
  }

  #grow(): void {
    const grown = new Uint32Array(Math.max(CAPACITY_MIN, this.count * 2))
    grown.set(this.items)
    this.items = grown
  }

  /** Index of the first item that is not less than `item`. Requires: they ascend. */
  lowerBound(item: number): number {
    const { items } = this
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (items[middle] < item) low = middle + 1
      else high = middle
    }
    return low
  }
}
