/** Somebody who does something with a tablet, a little each turn. */
export interface Actor {
  readonly kind: string
  /** Whether it has begun what it wants to end. */
  readonly isBusy: boolean
  turn(): void
  /** The tablet lost its memory: what was open in it is gone. */
  restart(): void
}
