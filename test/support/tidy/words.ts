import { exportsOf } from './declarations.ts'
import { layerOf } from './layers.ts'
import type { Problem, Repository, Rule } from './repository.ts'
import { lineAt, matchLines } from './source.ts'

interface Ban {
  /** Global, matched against code, or against comments when `isComment`. */
  readonly pattern: RegExp
  readonly instead: string
  readonly isComment?: boolean
  /** Files in which it is allowed after all. */
  readonly except?: RegExp
}

const WALL_CLOCK = /^(?:cli\/nyala\.ts$|src\/server\/system-clock\.ts$|scripts\/|test\/|bench\/)/
const PRINTS = /^(?:src\/server\/log\.ts$|src\/cli\/|scripts\/|test\/|bench\/|\.ci\/)/

const BANS: readonly Ban[] = [
  { pattern: /\bDate\.now\b|\bnew Date\(\)/g, instead: 'take a Clock', except: WALL_CLOCK },
  { pattern: /\bperformance\.now\b/g, instead: 'take a Clock', except: WALL_CLOCK },
  {
    pattern: /\bMath\.random\b/g,
    instead: 'take a Prng: it has a seed',
    except: /^(?:bench|scripts)\//,
  },
  { pattern: /\bconsole\.\w+/g, instead: 'use the Log port', except: PRINTS },
  { pattern: /\bas any\b/g, instead: 'say the type, or `unknown` and narrow it' },
  { pattern: /@ts-(?:ignore|nocheck)\b/g, isComment: true, instead: 'mend the type' },
  {
    pattern: /\b(?:test|it|describe)(?:\.\w+)*\.(?:only|skip|todo)\b/g,
    instead: 'run every test, or delete it',
  },
  {
    pattern: /\b(?:FIXME|TODO|XXX)\b/g,
    isComment: true,
    instead: 'do it now, or open an issue and say what is the case today',
  },
  { pattern: /\bdebugger\b/g, instead: 'remove it' },
]

/** Words with a better replacement. */
export const bannedWordProblems: Rule = ({ sources }) => {
  return sources.flatMap((source) =>
    BANS.filter((ban) => ban.except?.test(source.path) !== true).flatMap((ban) => {
      const view = ban.isComment === true ? source.comments : source.code
      return [...matchLines(view, ban.pattern)].map(([word, line]) => {
        return { file: source.path, line, rule: `banned: ${word}`, instead: ban.instead }
      })
    }),
  )
}

const DOCUMENTED = ['common', 'cfile', 'tablet', 'server']

/** What others build on says what it promises. */
export function docCommentProblems({ sources }: Repository): Problem[] {
  return sources
    .filter((source) => DOCUMENTED.includes(layerOf(source.path) ?? ''))
    .flatMap((source) =>
      exportsOf(source)
        .filter((it) => !it.isDocumented)
        .map(({ name, line }) => ({
          file: source.path,
          line,
          rule: `export ${name} has no doc comment`,
          instead: 'say in a verb-first sentence what a caller may rely on',
        })),
    )
}

const SQL_HOME = /^src\/server\/sql-[\w-]+\.ts$/
const SQL_STATEMENTS = [
  /SELECT\s.*\bFROM\b/,
  /(?:INSERT|REPLACE)\s+(?:OR\s+\w+\s+)?INTO\b/,
  /UPDATE\s+\S+\s+SET\b/,
  /DELETE\s+FROM\b/,
  /(?:CREATE|DROP|ALTER)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX)\b/,
  /PRAGMA\s/,
]
const SQL = new RegExp(`^\\s*(?:${SQL_STATEMENTS.map((it) => it.source).join('|')})`, 's')

/** SQL is text in one place, where what it bills can be read off. */
export function sqlProblems({ sources }: Repository): Problem[] {
  return sources
    .filter(({ path }) => path.startsWith('src/') && !SQL_HOME.test(path))
    .flatMap(({ path, text, strings }) =>
      strings
        .filter(({ start, end }) => SQL.test(text.slice(start, end)))
        .map(({ start }) => ({
          file: path,
          line: lineAt(text, start),
          rule: 'SQL outside of its place',
          instead: 'move it to src/server/sql-statements.ts or to migrations/',
        })),
    )
}
