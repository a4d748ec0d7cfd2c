/** What the front's HTTP side needs beside what routing needs: a log, and what was configured. */

import type { RouterPorts } from '../router/ports.ts'

/** Facts about an event: ids, counts and texts of errors, never cells, keys or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>

/** Where the front says what happened to it. */
export interface AppLog {
  /** Something is wrong with the program or with what it stored. */
  error(event: string, fields: LogFields, cause?: unknown): void
  /** A state changed. */
  info(event: string, fields?: LogFields): void
}

/** What the operator configured. */
export interface AppSettings {
  /** The administrator's bearer token; '' when there is none. */
  readonly adminToken: string
  /** Whether authentication is off: for this machine only. */
  readonly isAuthDisabled: boolean
  /** Origins whose pages may call the service. */
  readonly corsOrigins: readonly string[]
}

/** The app's surroundings: one for each isolate, shared by its requests. */
export interface AppPorts extends RouterPorts {
  readonly log: AppLog
  readonly settings: AppSettings
}

/** Variables of the Worker that the front reads. */
export interface AppVariables {
  readonly NYALA_ADMIN_TOKEN?: string
  readonly NYALA_AUTH?: string
  readonly NYALA_CORS_ORIGINS?: string
}

/** Settings of a Worker's variables. */
export function settingsOf(variables: AppVariables): AppSettings {
  const origins = (variables.NYALA_CORS_ORIGINS ?? '').split(',')
  return {
    adminToken: variables.NYALA_ADMIN_TOKEN ?? '',
    isAuthDisabled: variables.NYALA_AUTH === 'disabled',
    corsOrigins: origins.map((origin) => origin.trim()).filter((origin) => origin !== ''),
  }
}
