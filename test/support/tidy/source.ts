/**
 * A TypeScript file taken apart just far enough for the rules: code, text, comments.
 *
 * Each view has the length and the line ends of the file, with everything else blanked, so that an
 * offset or a line found in one holds in all:
 *
 *   text      a = 'b'  // c
 *   code      a = ' '
 *   comments           // c
 */

/** A scanned file. */
export interface Source {
  readonly path: string
  readonly text: string
  /** Only code: contents of strings, templates and regular expressions, and comments are blank. */
  readonly code: string
  /** Only comments. */
  readonly comments: string
  /** Insides of strings, templates and regular expressions, in order. */
  readonly strings: readonly Piece[]
}

/** A half-open stretch of a file. */
export interface Piece {
  readonly start: number
  readonly end: number
}

// After these a slash begins a regular expression; after anything else it divides.
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%~^<>}]|\b(?:return|typeof|case|in|of|throw|else|do))$/

/** Takes a file apart in one pass. */
export function scanSource(path: string, text: string): Source {
  const scanner = new Scanner(text)
  scanner.run()
  return {
    path,
    text,
    code: mask(text, [...scanner.strings, ...scanner.comments]),
    comments: keep(text, scanner.comments),
    strings: scanner.strings.sort((a, b) => a.start - b.start),
  }
}

/** Line of an offset, from 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1))
    line++
  return line
}

/** All matches of a global expression, with the line of each. */
export function* matchLines(text: string, pattern: RegExp): Generator<[string, number]> {
  for (const match of text.matchAll(pattern)) yield [match[0], lineAt(text, match.index)]
}

class Scanner {
  readonly strings: Piece[] = []
  readonly comments: Piece[] = []
  readonly #text: string
  #at = 0
  /** Depth of braces at which each open `${` began. */
  readonly #templates: number[] = []
  #depth = 0
  /** The last few characters of code, by which a slash is judged. */
  #before = ''

  constructor(text: string) {
    this.#text = text
  }

  run(): void {
    if (this.#text.startsWith('#!')) this.#comment(this.#lineEnd())
    while (this.#at < this.#text.length) this.#step()
  }

  #step(): void {
    const text = this.#text
    const at = this.#at
    const char = text[at]
    if (char === '/' && text[at + 1] === '/') this.#comment(this.#lineEnd())
    else if (char === '/' && text[at + 1] === '*') this.#comment(this.#after('*/', at + 2))
    else if (char === "'" || char === '"') this.#string(char)
    else if (char === '`') this.#template(at + 1)
    else if (char === '/' && BEFORE_REGEX.test(this.#before.trimEnd())) this.#regex()
    else this.#code(char)
  }

  #code(char: string): void {
    if (char === '{') this.#depth++
    if (char === '}') {
      if (this.#templates.at(-1) === this.#depth) {
        this.#templates.pop()
        this.#template(this.#at + 1)
        return
      }
      this.#depth--
    }
    const isSpace = /\s/.test(char)
    if (!isSpace) this.#before = (this.#before + char).slice(-12)
    else if (!this.#before.endsWith(' ')) this.#before += ' '
    this.#at++
  }

  #comment(end: number): void {
    this.comments.push({ start: this.#at, end })
    this.#at = end
  }

  #string(quote: string): void {
    let end = this.#at + 1
    while (end < this.#text.length && this.#text[end] !== quote && this.#text[end] !== '\n') {
      end += this.#text[end] === '\\' ? 2 : 1
    }
    this.#piece(this.#at + 1, end)
  }

  /** From behind a backtick or a closing brace to the next backtick or `${`. */
  #template(start: number): void {
    let end = start
    while (end < this.#text.length && this.#text[end] !== '`') {
      if (this.#text.startsWith('${', end)) {
        this.#piece(start, end)
        this.#at = end + 2
        this.#before = '{'
        this.#templates.push(this.#depth)
        return
      }
      end += this.#text[end] === '\\' ? 2 : 1
    }
    this.#piece(start, end)
  }

  #regex(): void {
    let end = this.#at + 1
    let isInClass = false
    while (end < this.#text.length && this.#text[end] !== '\n') {
      const char = this.#text[end]
      if (char === '/' && !isInClass) break
      if (char === '[') isInClass = true
      if (char === ']') isInClass = false
      end += char === '\\' ? 2 : 1
    }
    this.#piece(this.#at + 1, end)
  }

  #piece(start: number, end: number): void {
    this.strings.push({ start, end })
    this.#at = end + 1
    this.#before = ')'
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#at)
    return end === -1 ? this.#text.length : end
  }

  #after(mark: string, from: number): number {
    const end = this.#text.indexOf(mark, from)
    return end === -1 ? this.#text.length : end + mark.length
  }
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}

function mask(text: string, pieces: readonly Piece[]): string {
  let masked = ''
  let at = 0
  for (const piece of [...pieces].sort((a, b) => a.start - b.start)) {
    masked += text.slice(at, piece.start) + blank(text.slice(piece.start, piece.end))
    at = piece.end
  }
  return masked + text.slice(at)
}

function keep(text: string, pieces: readonly Piece[]): string {
  let kept = ''
  let at = 0
  for (const piece of pieces) {
    kept += blank(text.slice(at, piece.start)) + text.slice(piece.start, piece.end)
    at = piece.end
  }
  return kept + blank(text.slice(at))
}
