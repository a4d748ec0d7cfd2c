import { describe, expect, test } from 'vitest'
import { catalogStub, tabletStub } from '../../src/server/stubs.ts'

/** A namespace that tells what it was asked for. */
function namespace(asked: string[]): unknown {
  return {
    jurisdiction(name: string) {
      asked.push(`in ${name}`)
      return namespace(asked)
    },
    getByName(name: string, options?: { locationHint?: string }) {
      asked.push(name)
      if (options?.locationHint !== undefined) asked.push(`near ${options.locationHint}`)
      return {}
    },
  }
}

function environment(settings: Partial<Cloudflare.Env>): { env: Cloudflare.Env; asked: string[] } {
  const asked: string[] = []
  const objects = namespace(asked)
  return { env: { TABLET: objects, CATALOG: objects, ...settings } as Cloudflare.Env, asked }
}

describe('stubs', () => {
  test('name a tablet by its id and the catalog by its one name', () => {
    const { env, asked } = environment({})
    tabletStub(env, 'abc')
    catalogStub(env)

    expect(asked).toEqual(['abc', 'catalog'])
  })

  test('are of the configured jurisdiction and place', () => {
    const { env, asked } = environment({ NYALA_JURISDICTION: 'eu', NYALA_LOCATION_HINT: 'weur' })
    tabletStub(env, 'abc')
    catalogStub(env)

    expect(asked).toEqual(['in eu', 'abc', 'near weur', 'in eu', 'catalog', 'near weur'])
  })

  test('take an empty setting for none', () => {
    const { env, asked } = environment({ NYALA_JURISDICTION: '', NYALA_LOCATION_HINT: '' })
    tabletStub(env, 'abc')

    expect(asked).toEqual(['abc'])
  })

  test('are fresh each time', () => {
    const { env } = environment({})

    expect(tabletStub(env, 'abc')).not.toBe(tabletStub(env, 'abc'))
  })

  test.each([
    [{ NYALA_JURISDICTION: 'europe' }, 'not configured: NYALA_JURISDICTION is none of eu, fedramp'],
    [{ NYALA_LOCATION_HINT: 'moon' }, 'not configured: NYALA_LOCATION_HINT is none of wnam'],
  ])('refuse %j, which is no place of the platform', (settings, message) => {
    const { env, asked } = environment(settings)

    expect(() => tabletStub(env, 'abc')).toThrow(message)
    expect(() => catalogStub(env)).toThrow(message)
    expect(asked).toEqual([])
  })
})
