import type { Clock } from '../../src/common/hybrid-clock.ts'

/** A physical clock that stands still until it is told to move. */
export class TestClock implements Clock {
  #micros: number

  constructor(micros = 1_764_547_200_000_000) {
    this.#micros = micros
  }

  nowMicros(): number {
    return this.#micros
  }

  /** Moves by so many microseconds, which may be negative. */
  advance(micros: number): void {
    this.#micros += micros
  }
}
