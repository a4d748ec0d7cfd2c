import type { Problem, Repository } from './repository.ts'

/** A problem that is known and left for now. */
export interface Exception {
  /** A file, or a folder with a slash at its end. */
  readonly file: string
  /** How the rule's text begins. A size is part of that text, so what is excused cannot grow. */
  readonly rule: string
  readonly why: string
}

/** This list may only shrink: an entry that excuses nothing is itself a problem. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    file: 'src/common/alter-ranges.ts',
    rule: 'unreachable file',
    why: 'rules of adding and dropping ranges, for ALTER TABLE',
  },
]

/** What is left of the problems once the exceptions are taken off. */
export function excuse(problems: readonly Problem[], exceptions: readonly Exception[]): Problem[] {
  return problems.filter((problem) => !exceptions.some((it) => covers(it, problem)))
}

/**
 * Exceptions that excuse none of all the problems found.
 *
 * One for a folder that has no files yet is kept: it waits for them.
 */
export function staleProblems(
  { sizes }: Repository,
  problems: readonly Problem[],
  exceptions: readonly Exception[],
): Problem[] {
  return exceptions
    .filter((it) => [...sizes.keys()].some((file) => isIn(file, it.file)))
    .filter((it) => !problems.some((problem) => covers(it, problem)))
    .map((it) => ({
      file: it.file,
      line: 1,
      rule: `needless exception for ${it.rule}`,
      instead: 'take it out of test/support/tidy/exceptions.ts',
    }))
}

function covers(exception: Exception, problem: Problem): boolean {
  return isIn(problem.file, exception.file) && problem.rule.startsWith(exception.rule)
}

function isIn(file: string, place: string): boolean {
  return place.endsWith('/') ? file.startsWith(place) : file === place
}
