import { cycleProblems, reachProblems } from './graph.ts'
import { layerProblems, platformProblems } from './layers.ts'
import { dependencyProblems, originProblems } from './manifest.ts'
import { changelogProblems, markdownProblems } from './markdown.ts'
import { fileNameProblems, mirrorProblems } from './names.ts'
import type { Rule } from './repository.ts'
import { fileBytesProblems, sizeProblems } from './sizes.ts'
import { bannedWordProblems, docCommentProblems, sqlProblems } from './words.ts'

/** Every rule of the repository, by the fact it keeps true. */
export const RULES: Readonly<Record<string, Rule>> = {
  'imports point only where the table of layers allows': layerProblems,
  'the engine is synchronous and free of the platform': platformProblems,
  'no file imports itself through others': cycleProblems,
  'every source file is reached from an entry': reachProblems,
  'a file has the name of its main export': fileNameProblems,
  'a test lies where its source file does': mirrorProblems,
  'files, functions and lines keep their limits': sizeProblems,
  'no file is big but golden ones': fileBytesProblems,
  'exports that others build on are documented': docCommentProblems,
  'words with a better replacement are replaced': bannedWordProblems,
  'SQL is in its one place': sqlProblems,
  'documents have one title and point at what exists': markdownProblems,
  'the changelog has its shape': changelogProblems,
  'runtime dependencies are the list, pinned and used': dependencyProblems,
  'nothing names the machine or the registry it was made with': originProblems,
}
