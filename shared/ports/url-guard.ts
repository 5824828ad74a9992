/** Error code for a refused webhook URL. */
export type UrlRefusal =
  | 'malformed'
  | 'not_https'
  | 'credentials'
  | 'port_not_allowed'
  | 'address_not_public'
  | 'localhost_not_allowed'

/**
 * Decides whether a merchant's URL may ever be called. Creation checks once with a name look-up; a name that does not
 * resolve at that moment is accepted, because the guard at connect decides again for every request.
 */
export interface UrlGuard {
  /** `testOnly` is true for endpoints that receive only test events; only those may use `http://localhost:<port>`. */
  check(
    url: string,
    scope: { readonly testOnly: boolean },
  ): Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: UrlRefusal }>
}
