import { functionsOf } from './declarations.ts'
import type { Problem, Repository } from './repository.ts'
import type { Source } from './source.ts'

/** Hard limits; what to aim at is well below (docs/STYLE.md). */
const SOURCE_LINES_MAX = 600
const TEST_LINES_MAX = 500
const FUNCTION_LINES_MAX = 70
const COLUMNS_MAX = 100
const FILE_BYTES_MAX = 256 * 1024

/** Files, functions and lines stay readable. */
export function sizeProblems({ sources }: Repository): Problem[] {
  return sources.flatMap((source) => [
    ...fileLines(source),
    ...functionLines(source),
    ...columns(source),
  ])
}

/** Nothing big is kept in the repository but golden files. */
export function fileBytesProblems({ sizes }: Repository): Problem[] {
  return [...sizes]
    .filter(([file, bytes]) => bytes > FILE_BYTES_MAX && !file.startsWith('test/golden/'))
    .map(([file, bytes]) => ({
      file,
      line: 1,
      rule: `file of ${bytes} bytes, limit is ${FILE_BYTES_MAX}`,
      instead: 'generate it, or take it from a package',
    }))
}

function fileLines({ path, text }: Source): Problem[] {
  const limit = path.endsWith('.test.ts') ? TEST_LINES_MAX : SOURCE_LINES_MAX
  const count = text.trimEnd().split('\n').length
  if (count <= limit) return []
  const instead = limit === TEST_LINES_MAX ? 'split it by behaviour' : 'split it by concept'
  return [{ file: path, line: 1, rule: `file of ${count} lines, limit is ${limit}`, instead }]
}

/** Tests are data and expectations in order: only the functions of sources and support count. */
function functionLines(source: Source): Problem[] {
  if (/\.(?:test|suite)\.ts$/.test(source.path)) return []
  return functionsOf(source)
    .filter((it) => it.lineCount > FUNCTION_LINES_MAX)
    .map((it) => ({
      file: source.path,
      line: it.line,
      rule: `${it.name} of ${it.lineCount} lines, limit is ${FUNCTION_LINES_MAX}`,
      instead: 'keep its decisions and move straight-line work to pure leaves',
    }))
}

function columns({ path, text }: Source): Problem[] {
  return text.split('\n').flatMap((content, index) => {
    if (content.length <= COLUMNS_MAX || [...content].length <= COLUMNS_MAX) return []
    const rule = `line of ${[...content].length} columns, limit is ${COLUMNS_MAX}`
    return [{ file: path, line: index + 1, rule, instead: 'wrap it' }]
  })
}
