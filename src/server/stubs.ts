/**
 * The one place where stubs of objects are made, so that every call goes to an object in the
 * configured jurisdiction and place: the same name in two jurisdictions is two objects.
 *
 * A stub is made for each call and dropped after it: one that saw an exception stays broken. Making
 * one sends nothing.
 */

import { StatusError } from '../common/status.ts'
import type { CatalogStub } from '../wire/catalog-protocol.ts'
import type { TabletControlStub } from '../wire/tablet-protocol.ts'

/** The name of the one catalog object. */
export const CATALOG_NAME = 'catalog'

const JURISDICTIONS: readonly string[] = ['eu', 'fedramp', 'fedramp-high', 'us']
const LOCATION_HINTS: readonly string[] = [
  'wnam',
  'enam',
  'sam',
  'weur',
  'eeur',
  'apac',
  'apac-ne',
  'apac-se',
  'oc',
  'afr',
  'me',
]

/** A fresh stub of a tablet object. */
export function tabletStub(env: Cloudflare.Env, tabletId: string): TabletControlStub {
  return stubOf(env.TABLET, env, tabletId)
}

/** A fresh stub of the catalog object. */
export function catalogStub(env: Cloudflare.Env): CatalogStub {
  return stubOf(env.CATALOG, env, CATALOG_NAME)
}

function stubOf<T extends Rpc.DurableObjectBranded>(
  namespace: DurableObjectNamespace<T>,
  env: Cloudflare.Env,
  name: string,
): DurableObjectStub<T> {
  const jurisdiction = env.NYALA_JURISDICTION ?? ''
  const locationHint = env.NYALA_LOCATION_HINT ?? ''
  const home =
    jurisdiction === '' ? namespace : namespace.jurisdiction(mustBeJurisdiction(jurisdiction))
  if (locationHint === '') return home.getByName(name)
  return home.getByName(name, { locationHint: mustBeLocationHint(locationHint) })
}

function mustBeJurisdiction(text: string): DurableObjectJurisdiction {
  if (!JURISDICTIONS.includes(text)) throw misconfigured('NYALA_JURISDICTION', JURISDICTIONS)
  return text as DurableObjectJurisdiction
}

function mustBeLocationHint(text: string): DurableObjectLocationHint {
  if (!LOCATION_HINTS.includes(text)) throw misconfigured('NYALA_LOCATION_HINT', LOCATION_HINTS)
  return text as DurableObjectLocationHint
}

function misconfigured(variable: string, allowed: readonly string[]): StatusError {
  const message = `not configured: ${variable} is none of ${allowed.join(', ')}`
  return new StatusError('SERVICE_UNAVAILABLE', message, { retryable: false })
}
