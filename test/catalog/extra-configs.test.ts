import { describe, expect, test } from 'vitest'
import { normalizeExtraConfigs } from '../../src/catalog/extra-configs.ts'

describe('normalizeExtraConfigs', () => {
  test('keeps every configuration that is known', () => {
    const configs = {
      'kudu.table.history_max_age_sec': '604800',
      'kudu.table.maintenance_priority': '-5',
      'kudu.table.disable_compaction': 'true',
      'nyala.table.row_count_limit': '-1',
      'nyala.table.disk_size_limit': '-1',
    }

    expect(normalizeExtraConfigs(configs)).toEqual(configs)
  })

  test('leaves out a configuration with an empty value', () => {
    expect(normalizeExtraConfigs({ 'kudu.table.disable_compaction': '' })).toEqual({})
  })

  test.each(['kudu.table.other', '', 'toString', '__proto__'])('refuses the name %j', (name) => {
    const configs: Record<string, string> = JSON.parse(`{${JSON.stringify(name)}: "1"}`)

    expect(() => normalizeExtraConfigs(configs)).toThrow(`extra config "${name}" is unknown`)
  })

  test.each([
    ['kudu.table.history_max_age_sec', '59', 'is not an integer between 60 and 2147483647'],
    ['kudu.table.history_max_age_sec', '2147483648', 'is not an integer between 60 and 2147483647'],
    ['kudu.table.history_max_age_sec', '1e3', 'is not an integer between'],
    ['kudu.table.history_max_age_sec', ' 60', 'is not an integer between'],
    ['kudu.table.maintenance_priority', '1.0', 'is not an integer between'],
    ['nyala.table.row_count_limit', '-2', 'is not an integer between -1 and'],
    ['nyala.table.row_count_limit', '9007199254740993', 'is not an integer between -1 and'],
    ['kudu.table.disable_compaction', 'TRUE', 'is neither true nor false'],
  ])('refuses %s = %j', (name, value, message) => {
    expect(() => normalizeExtraConfigs({ [name]: value })).toThrow(message)
  })

  test.each([
    ['nyala.table.row_count_limit', '0'],
    ['nyala.table.row_count_limit', '9007199254740991'],
    ['nyala.table.disk_size_limit', '1000000'],
  ])('refuses the limit %s = %j, which nothing keeps yet', (name, value) => {
    const make = () => normalizeExtraConfigs({ [name]: value })

    expect(make).toThrow(`extra config "${name}" is not supported yet`)
    expect(make).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }))
  })
})
