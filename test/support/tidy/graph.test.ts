import { describe, expect, test } from 'vitest'
import { cycleProblems, reachProblems } from './graph.ts'
import { repositoryOf } from './repository.ts'

describe('cycleProblems', () => {
  test('finds a cycle of any length and names its way', () => {
    const problems = cycleProblems(
      repositoryOf({
        'src/a.ts': "import { b } from './b.ts'",
        'src/b.ts': "export { c } from './c.ts'",
        'src/c.ts': "import { a } from './a.ts'",
      }),
    )

    expect(problems.map((it) => it.rule)).toEqual([
      'import cycle src/a.ts → src/b.ts → src/c.ts → src/a.ts',
    ])
  })

  test('does not count types', () => {
    const problems = cycleProblems(
      repositoryOf({
        'src/a.ts': "import { b } from './b.ts'",
        'src/b.ts': "import type { A } from './a.ts'",
      }),
    )

    expect(problems).toEqual([])
  })

  test('takes two ways to one file for no cycle', () => {
    const problems = cycleProblems(
      repositoryOf({
        'src/a.ts': "import { b } from './b.ts'\nimport { c } from './c.ts'",
        'src/b.ts': "import { c } from './c.ts'",
        'src/c.ts': '',
      }),
    )

    expect(problems).toEqual([])
  })
})

describe('reachProblems', () => {
  test('finds a file that only tests and other lost files import', () => {
    const problems = reachProblems(
      repositoryOf({
        'src/index.ts': "import type { A } from './a.ts'",
        'src/a.ts': '',
        'src/lost.ts': '',
        'src/also-lost.ts': "import { lost } from './lost.ts'",
        'src/for-a-script.ts': '',
        'scripts/do.ts': "import { it } from '../src/for-a-script.ts'",
        'test/lost.test.ts': "import { lost } from '../src/lost.ts'",
      }),
    )

    expect(problems.map((it) => it.file)).toEqual(['src/lost.ts', 'src/also-lost.ts'])
  })
})
