/**
 * What the demo shows: sections, tables, a progress bar. Colours and movement on a terminal only.
 */

const isTerminal = process.stdout.isTTY === true && process.env.NO_COLOR === undefined
const BAR_CELLS = 30
const DRAW_MS = 80

function coloured(code: number, text: string): string {
  return isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text
}

/** The text in cyan. */
export function cyan(text: string): string {
  return coloured(36, text)
}

/** The text in grey. */
export function dim(text: string): string {
  return coloured(2, text)
}

/** Prints what comes next. */
export function say(text: string): void {
  console.log(`\n${isTerminal ? coloured(1, text) : text}`)
}

/** Prints rows as a table, numbers to the right. */
export function printRows(rows: readonly Readonly<Record<string, unknown>>[]): void {
  const names = Object.keys(rows[0] ?? {})
  const cells = rows.map((row) => names.map((name) => String(row[name])))
  const widths = names.map((name, i) =>
    Math.max(name.length, ...cells.map((line) => line[i].length)),
  )
  const isNumber = names.map((name) => rows.every((row) => typeof row[name] === 'number'))
  const pad = (text: string, i: number) =>
    isNumber[i] ? text.padStart(widths[i]) : text.padEnd(widths[i])
  const line = (texts: readonly string[]) => `  ${texts.map(pad).join('  ')}`.trimEnd()
  console.log(dim(line(names)))
  for (const texts of cells) console.log(line(texts))
}

/** Rows going in: a bar on a terminal, one line at the end everywhere. */
export class Progress {
  readonly #label: string
  readonly #total: number
  readonly #startedAt = performance.now()
  #done = 0
  #drawnAt = 0

  constructor(label: string, total: number) {
    this.#label = label
    this.#total = total
  }

  /** Counts rows sent. */
  add(rows: number): void {
    this.#done += rows
    const now = performance.now()
    if (!isTerminal || now - this.#drawnAt < DRAW_MS) return
    this.#drawnAt = now
    const full = Math.round((this.#done / this.#total) * BAR_CELLS)
    const bar = '█'.repeat(full).padEnd(BAR_CELLS, '░')
    process.stdout.write(`\r  ${this.#label.padEnd(9)} ${cyan(bar)} ${this.#speed()} rows/s `)
  }

  /** Replaces the bar by what it came to. */
  end(outcome: string): void {
    if (isTerminal) process.stdout.write('\r\u001b[2K')
    const seconds = ((performance.now() - this.#startedAt) / 1000).toFixed(1)
    const rows = this.#done.toLocaleString('en')
    const label = cyan(this.#label.padEnd(9))
    console.log(`  ${label} ${rows} rows in ${seconds} s, ${this.#speed()} rows/s: ${outcome}`)
  }

  #speed(): string {
    const seconds = (performance.now() - this.#startedAt) / 1000
    return Math.round(this.#done / Math.max(seconds, 0.001)).toLocaleString('en')
  }
}
