import { describe, expect, test } from 'vitest'
import { StatusError } from '../../src/common/status.ts'
import { checkMigrations, type Migration, migrate } from '../../src/server/migrate.ts'
import { CATALOG_MIGRATIONS, TABLET_MIGRATIONS } from '../../src/server/migrations.ts'
import { type ObjectStorage, withObjectStorage } from '../support/object-storage.ts'

const STEPS: readonly Migration[] = [
  {
    name: '0001_init',
    text: 'CREATE TABLE a (id INTEGER PRIMARY KEY);\nINSERT INTO a VALUES (1);\n',
  },
  { name: '0002_more', text: 'CREATE TABLE b (id INTEGER PRIMARY KEY)' },
  { name: '0003_fill', text: 'INSERT INTO b SELECT id FROM a' },
]

function tablesOf({ sql }: ObjectStorage): string[] {
  return sql
    .all<[string]>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .map(([name]) => name)
}

function withNothing(scenario: (storage: ObjectStorage) => void): Promise<void> {
  return withObjectStorage([], scenario)
}

describe('migrate', () => {
  test('writes nothing when there is no step', () =>
    withNothing((storage) => {
      migrate(storage.sql, storage.transact, [])

      expect(tablesOf(storage)).toEqual([])
      expect(storage.sql.rowsWritten).toBe(0)
    }))

  test('applies all steps in order, and once', () =>
    withNothing((storage) => {
      migrate(storage.sql, storage.transact, STEPS)
      const written = storage.sql.rowsWritten
      migrate(storage.sql, storage.transact, STEPS)

      expect(tablesOf(storage)).toEqual(['a', 'b', 'migrations'])
      expect(storage.sql.all('SELECT id FROM b')).toEqual([[1]])
      expect(storage.sql.rowsWritten).toBe(written)
      expect(checkMigrations(storage.sql, STEPS)).toBe(STEPS.length)
    }))

  test.each(STEPS.map((_, count) => count))('goes on from version %i', (count) =>
    withNothing((storage) => {
      migrate(storage.sql, storage.transact, STEPS.slice(0, count))
      migrate(storage.sql, storage.transact, STEPS)

      expect(storage.sql.all('SELECT id FROM b')).toEqual([[1]])
      expect(checkMigrations(storage.sql, STEPS)).toBe(STEPS.length)
    }),
  )

  test('does not mind what ends the lines', () =>
    withNothing((storage) => {
      migrate(storage.sql, storage.transact, STEPS)
      const other = STEPS.map(({ name, text }) => ({ name, text: text.replaceAll('\n', '\r\n') }))

      expect(checkMigrations(storage.sql, other)).toBe(STEPS.length)
    }))

  test('leaves the version before a step that fails', () =>
    withNothing((storage) => {
      const broken = { name: '0002_more', text: 'CREATE TABLE b (id); CREATE TABLE a (id)' }
      expect(() => migrate(storage.sql, storage.transact, [STEPS[0], broken])).toThrow(
        'already exists',
      )

      expect(tablesOf(storage)).toEqual(['a', 'migrations'])
      migrate(storage.sql, storage.transact, STEPS)
      expect(tablesOf(storage)).toEqual(['a', 'b', 'migrations'])
    }))

  const changed = { ...STEPS[1], text: `${STEPS[1].text} STRICT` }
  const renamed = { ...STEPS[1], name: '0002_other' }

  test.each([
    [
      'was changed',
      [STEPS[0], changed, STEPS[2]],
      'migration 2 (0002_more) was changed after it was applied',
    ],
    [
      'was renamed',
      [STEPS[0], renamed, STEPS[2]],
      'migration 2 was 0002_more and is now 0002_other',
    ],
    [
      'is not known',
      STEPS.slice(0, 2),
      'migration 3 (0003_fill) is of a newer version than this one',
    ],
  ])('touches nothing when an applied step %s', (_, known, message) =>
    withNothing((storage) => {
      migrate(storage.sql, storage.transact, STEPS)
      const written = storage.sql.rowsWritten
      const next = { name: '0004_next', text: 'CREATE TABLE c (id)' }

      expect(() => migrate(storage.sql, storage.transact, [...known, next])).toThrow(StatusError)
      expect(() => checkMigrations(storage.sql, known)).toThrow(message)
      expect(storage.sql.rowsWritten).toBe(written)
    }),
  )

  test('touches nothing when the row of an applied step is missing', () =>
    withNothing((storage) => {
      migrate(storage.sql, storage.transact, STEPS)
      storage.sql.all('DELETE FROM migrations WHERE number = 1')

      expect(() => migrate(storage.sql, storage.transact, STEPS)).toThrow(
        'migration 1 was applied but is not remembered',
      )
    }))
})

describe('migrations', () => {
  const lists = { catalog: CATALOG_MIGRATIONS, tablet: TABLET_MIGRATIONS }

  test.each(Object.entries(lists))(
    'of the %s lead from every version to the newest',
    async (_, steps) => {
      const newest: string[][] = []
      for (let count = 0; count <= steps.length; count++) {
        await withObjectStorage(steps.slice(0, count), (storage) => {
          migrate(storage.sql, storage.transact, steps)
          newest.push(tablesOf(storage))
        })
      }

      expect(new Set(newest.map(String)).size).toBe(1)
    },
  )

  test.each(Object.entries(lists))('of the %s have numbers without gaps', (_, steps) => {
    const numbers = steps.map(({ name }) => Number(name.slice(0, 4)))

    expect(numbers).toEqual(steps.map((_step, index) => index + 1))
  })

  test.each(Object.entries(lists))(
    'of the %s make no index, which would double the bill',
    (_, steps) =>
      withObjectStorage(steps, ({ sql }) => {
        const indexes = sql.all<[string, string]>(
          "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name NOT IN " +
            '(SELECT name FROM pragma_table_list WHERE wr = 1)',
        )

        expect(indexes).toEqual([])
      }),
  )
})
