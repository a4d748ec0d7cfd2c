import { describe, expect, test } from 'vitest'
import { DOCS_EXAMPLES, docsIntroduction } from '../../src/api/docs-introduction.ts'
import { DATA_TYPES } from '../../src/common/data-type.ts'
import { STATUS } from '../../src/common/status.ts'
import { type LocalAnswer, LocalApp } from '../support/local-app.ts'

/** Sends what a curl command line would. */
function sendCurl(app: LocalApp, curl: string): Promise<LocalAnswer> {
  const [, method, path] = /^curl -X (\w+) "\$NYALA(\S+)"/.exec(curl) ?? []
  const [, body] = /-d '([^']*)'$/.exec(curl) ?? []
  const headers = [...curl.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name, value]) => {
    return [name, value.replace('$NYALA_TOKEN', 'secret')]
  })
  return app.send(method, path, { body, headers: Object.fromEntries(headers) })
}

describe('DOCS_EXAMPLES', () => {
  test('make a table, write to it and read it', async () => {
    const app = new LocalApp({ isAuthDisabled: false, adminToken: 'secret' })
    const answers: LocalAnswer[] = []
    for (const { curl } of DOCS_EXAMPLES) answers.push(await sendCurl(app, curl))

    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200])
    expect(answers[1].json).toMatchObject({ upserted: 2, failed: 0 })
    expect(answers[2].json.rows).toEqual([{ time: '2026-01-31T12:00:00.000000Z', value: 0.25 }])
    const hour = '2026-01-31T12:00:00.000000Z'
    expect(answers[3].json.rows).toEqual([
      { host: 'web-1', hour, samples: 1, max_value: 0.25, percent: 25 },
      { host: 'web-2', hour, samples: 1, max_value: null, percent: null },
    ])
  })
})

describe('docsIntroduction', () => {
  const html = docsIntroduction()

  test('has every example to copy', () => {
    expect(html.match(/<pre class="copyable">/g)).toHaveLength(DOCS_EXAMPLES.length + 1)
    for (const { title } of DOCS_EXAMPLES) expect(html).toContain(`<h3>${title}</h3>`)
    expect(html).toContain('&quot;op&quot;: &quot;&gt;=&quot;')
  })

  test('has every type and every error', () => {
    for (const type of DATA_TYPES) expect(html).toMatch(new RegExp(`<td>[^<]*\\b${type}\\b`))
    for (const [code, { http }] of Object.entries(STATUS)) {
      expect(html).toContain(`<tr><td>${code}</td><td>${http}</td>`)
    }
  })

  test('says how to authenticate', () => {
    expect(html).toContain('Authorization: Bearer')
    expect(html).toContain('NYALA_ADMIN_TOKEN')
  })
})
