/**
 * What `npm run dev` will do, decided from its flags and the user's configuration before it starts.
 *
 *   token configured | reachable from outside | authentication
 *   -----------------+------------------------+----------------------------------------
 *   yes              | either                 | on, with that token
 *   no               | no                     | off: `NYALA_AUTH:disabled` is passed
 *   no               | yes                    | refused: nobody may serve strangers unguarded
 */

/** What the user configured outside of the flags. */
export interface DevEnvironment {
  /** The variables of this process. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** Text of a file from which wrangler will read variables, or undefined when there is none. */
  readonly readFile: (path: string) => string | undefined
}

/** Either the arguments for wrangler or the reason to refuse. */
export type DevPlan =
  | { readonly ok: true; readonly wranglerArgs: readonly string[]; readonly isAuthOn: boolean }
  | { readonly ok: false; readonly message: string }

const AUTH_OFF = 'NYALA_AUTH:disabled'
const TOKEN = 'NYALA_ADMIN_TOKEN'
/** Settings that are taken over from the environment; NYALA_AUTH is not among them on purpose. */
const SETTINGS = [
  TOKEN,
  'NYALA_CORS_ORIGINS',
  'NYALA_LOG_LEVEL',
  'NYALA_JURISDICTION',
  'NYALA_LOCATION_HINT',
] as const
const TOKEN_LINE = new RegExp(`^[ \\t]*(export +)?${TOKEN}[ \\t]*=[ \\t]*["']?[^\\s"']`, 'm')

const REFUSAL = [
  'dev: refusing to serve without authentication where other machines can reach it.',
  'Give an administrator token, for example',
  '  NYALA_ADMIN_TOKEN=$(openssl rand -hex 32) npm run dev -- --ip 0.0.0.0',
  'or a line NYALA_ADMIN_TOKEN=… in .dev.vars, or stay on this machine with --ip 127.0.0.1.',
].join('\n')

/** Plans `wrangler dev` for these flags. Flags are passed on in their order, ours come first. */
export function planDev(flags: readonly string[], environment: DevEnvironment): DevPlan {
  const isExposed = isReachableFromOutside(flags)
  const variables = valuesOf(flags, '--var')
  const inherited = environment.variables[TOKEN]
  const isTokenGiven = variables.some((text) => text.startsWith(`${TOKEN}:`)) || !!inherited
  const isTokenConfigured = isTokenGiven || isTokenInFiles(flags, environment)

  if (isExposed && (!isTokenConfigured || variables.includes(AUTH_OFF))) {
    return { ok: false, message: REFUSAL }
  }

  const wranglerArgs = ['dev']
  for (const name of SETTINGS) {
    const value = environment.variables[name]
    if (value) wranglerArgs.push('--var', `${name}:${value}`)
  }
  if (!isTokenConfigured) wranglerArgs.push('--var', AUTH_OFF)
  wranglerArgs.push(...flags)
  return { ok: true, wranglerArgs, isAuthOn: !wranglerArgs.includes(AUTH_OFF) }
}

/** Whether the name or address can only be reached from this machine. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare)
}

/** A tunnel and Cloudflare's network reach as far as any address. */
function isReachableFromOutside(flags: readonly string[]): boolean {
  const isElsewhere = flags.some((flag) => /^(-r|--remote|--tunnel)(=|$)/.test(flag))
  return isElsewhere || valuesOf(flags, '--ip').some((address) => !isLoopback(address))
}

function isTokenInFiles(flags: readonly string[], environment: DevEnvironment): boolean {
  const files = ['.dev.vars', '.env', '.env.local', ...valuesOf(flags, '--env-file')]
  return files.some((file) => TOKEN_LINE.test(environment.readFile(file) ?? ''))
}

/**
 * Every value given to a flag, written `--flag value` or `--flag=value`.
 *
 * A flag that takes a list (`--var a b`) takes all words up to the next flag.
 */
function valuesOf(flags: readonly string[], name: string): string[] {
  const values: string[] = []
  let isInside = false
  for (const flag of flags) {
    if (flag.startsWith(`${name}=`)) values.push(flag.slice(name.length + 1))
    else if (isInside && !flag.startsWith('-')) values.push(flag)
    isInside = flag === name || (isInside && !flag.startsWith('-'))
  }
  return values
}
