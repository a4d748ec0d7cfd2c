import { describe, expect, test } from 'vitest'
import { answerFormat, bodyFormat } from '../../src/api/media-type.ts'
import { readQuery } from '../../src/api/query-params.ts'

const OFFERED = ['json', 'ndjson', 'csv'] as const

function answered(accept: string | null, query = ''): string {
  const headers = new Headers(accept === null ? {} : { accept })
  const request = new Request(`http://localhost/${query}`, { headers })
  return answerFormat(request, readQuery(request, ['format']), OFFERED)
}

describe('answerFormat', () => {
  test.each([
    [null, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['text/*', 'csv'],
    ['text/csv', 'csv'],
    ['TEXT/CSV', 'csv'],
    ['application/x-ndjson', 'ndjson'],
    ['application/ndjson', 'ndjson'],
    ['application/jsonl', 'ndjson'],
    ['application/json, text/csv', 'json'],
    ['application/json;q=0.5, text/csv', 'csv'],
    ['application/json;q=0.5, text/csv;q=0.6;header=present', 'csv'],
    ['*/*;q=0.1, application/x-ndjson', 'ndjson'],
    ['application/json;q=0, */*', 'ndjson'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['application/vnd.apache.arrow.stream, */*;q=0.1', 'json'],
    ['text/csv;q=high', 'csv'],
  ])('to Accept: %s is %s', (accept, format) => {
    expect(answered(accept)).toBe(format)
  })

  test('is what the query says, whatever Accept does', () => {
    expect(answered('application/json', '?format=CSV')).toBe('csv')
  })

  test.each(['image/png', 'application/json;q=0', 'text/html, application/xml'])(
    'to Accept: %s is none',
    (accept) => {
      expect(() => answered(accept)).toThrow('none of the media types in Accept is offered here')
    },
  )
})

describe('bodyFormat', () => {
  const format = (type: string) => {
    const headers = { 'content-type': type }
    return bodyFormat(new Request('http://localhost/', { headers }), OFFERED)
  }

  test.each([
    ['application/json', 'json'],
    ['Application/JSON; Charset=UTF-8', 'json'],
    ['application/json;charset="utf-8"', 'json'],
    ['application/json; charset=utf8; x=y', 'json'],
    ['text/csv; header=present', 'csv'],
    ['application/jsonl', 'ndjson'],
  ])('of %s is %s', (type, expected) => {
    expect(format(type)).toBe(expected)
  })

  test.each(['text/json', 'application/json+x', 'application', 'multipart/form-data; boundary=x'])(
    'of %s is none',
    (type) => {
      expect(() => format(type)).toThrow(
        'accepted are application/json, application/x-ndjson, text/csv',
      )
    },
  )
})
