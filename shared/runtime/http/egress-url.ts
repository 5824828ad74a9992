import { isIP } from 'node:net'
import { parsePlainUrl } from '#shared/contracts/http/plain-url.ts'
import type { UrlRefusal } from '#shared/ports/url-guard.ts'
import { isPublicAddress } from './egress-connector.ts'

/** A URL that passed every check without a name look-up. */
export interface EgressTarget {
  /** Origin, path and query as called: without trailing dot, credentials or fragment. */
  readonly href: string
  /** Name or IP address without brackets and without trailing dot. */
  readonly hostname: string
  /** True for `http://localhost:<port>`: called on the loopback addresses only, without a name look-up. */
  readonly localhost: boolean
}

export type EgressUrl =
  | { readonly ok: true; readonly target: EgressTarget }
  | { readonly ok: false; readonly reason: UrlRefusal }

/** Names that never belong to the public DNS (RFC 6761, RFC 6762, RFC 8375, and ICANN's reservation of `internal`). */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|localdomain|home\.arpa)$/

/**
 * Parses a merchant's URL, which has the form that the WHATWG parser writes (`readPlainUrl`: an IPv4 address is dotted, a name is
 * ASCII), and decides all that can be decided without DNS: https only, no credentials,
 * port 443 or 1024 and above, no non-public address, no name that is local by definition.
 */
export function parseEgressUrl(text: string, options: { readonly allowLocalhost: boolean }): EgressUrl {
  const url = parsePlainUrl(text)
  if (url === null) return refuse('malformed')
  if (url.username !== '' || url.password !== '') return refuse('credentials')
  url.hash = ''
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (hostname === '' || hostname.endsWith('.')) return refuse('malformed')
  if (url.port === '0') return refuse('port_not_allowed')
  if (url.protocol === 'http:' && hostname === 'localhost') {
    if (!options.allowLocalhost) return refuse('localhost_not_allowed')
    // With its trailing dot it differs from the spelling that the specification allows.
    if (url.hostname !== 'localhost') return refuse('malformed')
    return { ok: true, target: { href: url.href, hostname, localhost: true } }
  }
  if (url.protocol !== 'https:') return refuse('not_https')
  if (url.port !== '' && Number(url.port) < 1_024) return refuse('port_not_allowed')
  if (isIP(hostname) !== 0) {
    if (!isPublicAddress(hostname)) return refuse('address_not_public')
  } else if (!hostname.includes('.') || LOCAL_NAME.test(hostname)) {
    return refuse('address_not_public')
  } else {
    url.hostname = hostname
  }
  return { ok: true, target: { href: url.href, hostname, localhost: false } }
}

function refuse(reason: UrlRefusal): EgressUrl {
  return { ok: false, reason }
}
