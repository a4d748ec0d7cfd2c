import { beforeAll, describe, expect, test } from 'vitest'
import { DOCS_SCRIPT } from '../../src/api/docs-script.ts'
import { LocalApp } from '../support/local-app.ts'
import { type PlainElement, runPageScript } from '../support/plain-document.ts'

interface Spec {
  readonly paths: Record<string, Record<string, { operationId: string }>>
  readonly components: { schemas: Record<string, { description?: string }> }
}

describe('the script of the documentation page', () => {
  let spec: Spec
  let operations: PlainElement
  let schemas: PlainElement
  let contents: PlainElement

  beforeAll(async () => {
    spec = (await new LocalApp().send('GET', '/api/v1/spec')).json
    const ids = ['operations', 'schemas', 'contents']
    const places = await runPageScript(DOCS_SCRIPT, ids, spec)
    operations = places.get('operations') as PlainElement
    schemas = places.get('schemas') as PlainElement
    contents = places.get('contents') as PlainElement
  })

  function operation(id: string): PlainElement {
    const found = operations.all('section').find((it) => it.attributes.get('id') === id)
    if (found === undefined) throw new Error(`${id} is not shown:\n${operations.textContent}`)
    return found
  }

  test('shows every operation, and links to it', () => {
    const documented = Object.values(spec.paths).flatMap((item) => {
      return Object.values(item).map(({ operationId }) => operationId)
    })

    const shown = operations.all('section').map((it) => it.attributes.get('id'))
    const links = contents.all('a').map((it) => it.attributes.get('href'))

    expect(shown.toSorted()).toEqual(documented.toSorted())
    expect(links).toEqual(shown.map((id) => `#${id}`))
  })

  test('says what a member is about once', () => {
    const items = [...operations.all('li'), ...schemas.all('li')]

    expect(items.length).toBeGreaterThan(100)
    for (const item of items) {
      const [, about] = item.textContent.split(' — ')
      if (about === undefined || item.all('ul').length > 0) continue
      expect(item.textContent.split(about)).toHaveLength(2)
    }
    expect(operation('scan').textContent).toContain(
      'page_size? integer from 1 to 10000 — JSON only; 1000 unless given',
    )
  })

  test('shows a schema of several places once, and links to it from each', () => {
    const text = operations.textContent + schemas.textContent
    const links = operations.all('a').map((it) => it.attributes.get('href'))
    const ids = schemas.all('section').map((it) => it.attributes.get('id'))

    expect(text.split('whether repeating the request can help')).toHaveLength(2)
    expect(links.filter((link) => link === '#schema-Problem')).toHaveLength(
      operations.all('section').length,
    )
    expect(ids).toContain('schema-Problem')
    for (const link of links) if (link?.startsWith('#schema-')) expect(ids).toContain(link.slice(1))
  })

  test('shows headers of one operation there, and those of all nowhere', () => {
    expect(operation('createTable').textContent).toContain('Location — where it is')
    expect(operation('createTable').textContent).toContain('partition_schema?')
    expect(operations.textContent).not.toContain('Nyala-Request-Id')
  })

  test('shows names of one media type together', () => {
    expect(operation('writeRows').textContent).toContain(
      'application/x-ndjson, application/ndjson, application/jsonl string — a row a line',
    )
  })
})
