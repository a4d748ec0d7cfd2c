import { lineAt, type Source } from './source.ts'

/** A named export of a file. */
export interface Export {
  readonly name: string
  readonly line: number
  /** Whether a doc comment stands directly above. A later overload has that of the first. */
  readonly isDocumented: boolean
}

/** A function with a body. */
export interface FunctionBody {
  readonly name: string
  readonly line: number
  /** From the line of its name to that of its closing brace, both included. */
  readonly lineCount: number
}

const EXPORT = /^export(?:\s+(?:default|declare|async|abstract))*\s+(\w+)\*?\s+([\w$]+)/gm
const KIND = /^(?:function|class|const|let|interface|type)$/

/** The declarations a file exports, in order. Re-exports are not among them. */
export function exportsOf(source: Source): Export[] {
  const found: Export[] = []
  for (const match of source.code.matchAll(EXPORT)) {
    const [, kind, name] = match
    if (!KIND.test(kind)) continue
    const isOverload = kind === 'function' && found.at(-1)?.name === name
    const above = source.text.slice(0, match.index)
    const isDocumented = isOverload ? found.at(-1)?.isDocumented === true : endsInDoc(above, source)
    found.push({ name, line: lineAt(source.text, match.index), isDocumented })
  }
  return found
}

function endsInDoc(above: string, source: Source): boolean {
  const trimmed = above.trimEnd()
  if (!trimmed.endsWith('*/') || above.slice(trimmed.length).split('\n').length > 2) return false
  return source.comments.lastIndexOf('/**', trimmed.length) > lastCodeOffset(source, trimmed.length)
}

/** Offset of the last character of code before `end`, or -1. */
function lastCodeOffset(source: Source, end: number): number {
  let at = end - 1
  while (at >= 0 && source.code[at].trim() === '') at--
  return at
}

interface Token {
  readonly text: string
  readonly offset: number
  readonly isFirstOnLine: boolean
}

const TOKEN = /[A-Za-z_$#][\w$]*|=>|[^\s\w]/g
const NOT_A_METHOD = /^(?:if|for|while|switch|catch|with|function|return|typeof|new|await|super)$/
const BEFORE_METHOD =
  /^(?:[{};,]|async|static|override|get|set|public|private|protected|readonly|\*)$/
const BEFORE_TYPE_BRACE = /^(?:[:|&<,([?]|=>|extends|keyof|readonly|is|infer)$/
const ENDS_TYPE = /^(?:[;=)\]}]|const|let|return|export|function|class|interface|import|case)$/

/** Functions, methods and arrow functions with a body in braces. */
export function functionsOf(source: Source): FunctionBody[] {
  const tokens = tokenize(source.code)
  const found: FunctionBody[] = []
  for (let index = 0; index < tokens.length; index++) {
    const body = bodyIndex(tokens, index)
    if (body === undefined) continue
    const end = matching(tokens, body, '{', '}')
    const line = lineAt(source.code, tokens[index].offset)
    const last = lineAt(source.code, (tokens[end] ?? tokens[tokens.length - 1]).offset)
    found.push({ name: nameAt(tokens, index), line, lineCount: last - line + 1 })
  }
  return found
}

function tokenize(code: string): Token[] {
  const tokens: Token[] = []
  let lineEnd = -1
  for (const match of code.matchAll(TOKEN)) {
    const nextLineEnd = code.lastIndexOf('\n', match.index)
    const isFirstOnLine = nextLineEnd !== lineEnd || tokens.length === 0
    lineEnd = nextLineEnd
    tokens.push({ text: match[0], offset: match.index, isFirstOnLine })
  }
  return tokens
}

/** Index of the brace that opens the body of the function that begins at `index`, if one does. */
function bodyIndex(tokens: readonly Token[], index: number): number | undefined {
  const token = tokens[index]
  if (token.text === '=>') return tokens[index + 1]?.text === '{' ? index + 1 : undefined
  const parameters = parametersIndex(tokens, index)
  if (parameters === undefined) return undefined
  const end = matching(tokens, parameters, '(', ')')
  if (tokens[end + 1]?.text === '{') return end + 1
  return tokens[end + 1]?.text === ':' ? afterType(tokens, end + 2) : undefined
}

function parametersIndex(tokens: readonly Token[], index: number): number | undefined {
  const { text, isFirstOnLine } = tokens[index]
  const before = tokens[index - 1]?.text ?? ';'
  if (text === 'function') {
    if (before === '.') return undefined
    let at = index + 1
    if (tokens[at]?.text === '*') at++
    if (/^\w/.test(tokens[at]?.text ?? '')) at++
    return afterTypeParameters(tokens, at)
  }
  const isNamedFunction = (before === '*' ? tokens[index - 2]?.text : before) === 'function'
  if (!/^[\w#$]/.test(text) || NOT_A_METHOD.test(text) || isNamedFunction) return undefined
  if (!isFirstOnLine && !BEFORE_METHOD.test(before)) return undefined
  return afterTypeParameters(tokens, index + 1)
}

/** Skips `<…>`. Returns the index of the `(` that must follow, if it does. */
function afterTypeParameters(tokens: readonly Token[], index: number): number | undefined {
  const at = tokens[index]?.text === '<' ? matching(tokens, index, '<', '>') + 1 : index
  return tokens[at]?.text === '(' ? at : undefined
}

/** Skips a return type. Returns the index of the brace that opens the body, if there is one. */
function afterType(tokens: readonly Token[], start: number): number | undefined {
  for (let at = start; at < tokens.length; at++) {
    const { text } = tokens[at]
    if (text === '{') {
      if (!BEFORE_TYPE_BRACE.test(tokens[at - 1].text)) return at
      at = matching(tokens, at, '{', '}')
    } else if (text === '(') at = matching(tokens, at, '(', ')')
    else if (text === '[') at = matching(tokens, at, '[', ']')
    else if (ENDS_TYPE.test(text)) return undefined
  }
  return undefined
}

/** Index of the token that closes what `index` opens, or of the last one. */
function matching(tokens: readonly Token[], index: number, open: string, close: string): number {
  let depth = 0
  for (let at = index; at < tokens.length; at++) {
    if (tokens[at].text === open) depth++
    if (tokens[at].text === close) depth--
    if (depth === 0) return at
  }
  return tokens.length - 1
}

function nameAt(tokens: readonly Token[], index: number): string {
  const { text } = tokens[index]
  if (text === '=>') return 'arrow function'
  if (text !== 'function') return text
  const next = tokens[index + 1]?.text === '*' ? tokens[index + 2] : tokens[index + 1]
  return /^\w/.test(next?.text ?? '') ? next.text : text
}
