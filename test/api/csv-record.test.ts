import { describe, expect, test } from 'vitest'
import { csvRecord } from '../../src/api/csv-record.ts'

describe('csvRecord', () => {
  test.each([
    ['', []],
    ['a', ['a']],
    [',', ['', '']],
    ['a,b,,c', ['a', 'b', '', 'c']],
    ['"a,b","c""d",""', ['a,b', 'c"d', '']],
    ['"line\nbreak",x', ['line\nbreak', 'x']],
    ['""""', ['"']],
    [' a , "', [' a ', '']],
  ])('reads %j', (text, fields) => {
    if (text.endsWith('"') && !text.endsWith('""') && text.startsWith(' ')) {
      expect(() => csvRecord(text, 'it')).toThrow('it: a field with a quote')
    } else {
      expect(csvRecord(text, 'it')).toEqual(fields)
    }
  })

  test.each([
    ['"a', 'it: a quoted field does not end'],
    ['"a"b', 'it: a comma must follow a quoted field'],
    ['a"b', 'it: a field with a quote or a line break must be quoted'],
    ['a\nb', 'it: a field with a quote or a line break must be quoted'],
    ['"a""', 'it: a quoted field does not end'],
  ])('refuses %j', (text, message) => {
    expect(() => csvRecord(text, 'it')).toThrow(message)
  })
})
