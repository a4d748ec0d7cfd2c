import { describe, expect, test } from 'vitest'
import type { DevEnvironment } from '../../scripts/dev-plan.ts'
import { isLoopback, planDev } from '../../scripts/dev-plan.ts'

function environment(
  variables: Record<string, string> = {},
  files: Record<string, string> = {},
): DevEnvironment {
  return { variables, readFile: (path) => files[path] }
}

describe('planDev', () => {
  test('switches authentication off on this machine', () => {
    const plan = planDev(['--port', '8788'], environment())

    expect(plan).toEqual({
      ok: true,
      wranglerArgs: ['dev', '--var', 'NYALA_AUTH:disabled', '--port', '8788'],
      isAuthOn: false,
    })
  })

  test('passes flags on as they are', () => {
    const flags = ['--ip=127.0.0.1', '--persist-to', 'elsewhere', '--var', 'A:b']
    const plan = planDev(flags, environment())

    expect(plan.ok && plan.wranglerArgs.slice(-flags.length)).toEqual(flags)
  })

  test.each([
    [['--ip', '0.0.0.0']],
    [['--ip=0.0.0.0']],
    [['--ip', '::']],
    [['--ip', '*']],
    [['--ip', '127.0.0.1', '--ip', '192.168.1.7']],
    [['--tunnel']],
    [['--remote']],
    [['-r']],
  ])('refuses %j without a token', (flags) => {
    const plan = planDev(flags, environment())

    expect(plan.ok).toBe(false)
    expect(!plan.ok && plan.message).toContain('NYALA_ADMIN_TOKEN')
  })

  test.each([
    ['a variable of the process', [], { NYALA_ADMIN_TOKEN: 'secret' }, {}],
    ['a flag', ['--var', 'NYALA_ADMIN_TOKEN:secret'], {}, {}],
    ['a second word of a flag', ['--var', 'A:b', 'NYALA_ADMIN_TOKEN:secret'], {}, {}],
    ['.dev.vars', [], {}, { '.dev.vars': 'A=b\nNYALA_ADMIN_TOKEN=secret\n' }],
    ['a named file', ['--env-file', 'mine.env'], {}, { 'mine.env': 'NYALA_ADMIN_TOKEN="secret"' }],
  ])('keeps authentication on with a token from %s', (_, flags, variables, files) => {
    const plan = planDev([...flags, '--ip', '0.0.0.0'], environment(variables, files))

    expect(plan.ok && plan.isAuthOn).toBe(true)
    expect(plan.ok && plan.wranglerArgs).not.toContain('NYALA_AUTH:disabled')
  })

  test('takes an empty or commented token for none', () => {
    const files = { '.dev.vars': 'NYALA_ADMIN_TOKEN=\n# NYALA_ADMIN_TOKEN=secret\n' }
    const plan = planDev(['--ip', '0.0.0.0'], environment({ NYALA_ADMIN_TOKEN: '' }, files))

    expect(plan.ok).toBe(false)
  })

  test('refuses to switch authentication off by hand where others can reach it', () => {
    const flags = ['--ip', '0.0.0.0', '--var', 'NYALA_AUTH:disabled']
    const plan = planDev(flags, environment({ NYALA_ADMIN_TOKEN: 'secret' }))

    expect(plan.ok).toBe(false)
  })
})

describe('isLoopback', () => {
  test.each(['localhost', '127.0.0.1', '127.8.9.1', '::1', '[::1]'])('accepts %s', (host) => {
    expect(isLoopback(host)).toBe(true)
  })

  test.each(['0.0.0.0', '::', '*', '10.0.0.1', '127.evil.example', ''])('rejects %j', (host) => {
    expect(isLoopback(host)).toBe(false)
  })
})
