import type { HttpFault } from '#shared/ports/webhook-http.ts'

const SENTENCES: Readonly<Record<HttpFault, string>> = {
  bad_url: 'The URL is malformed, or its scheme or port is not allowed. Nothing was sent.',
  blocked_address: 'The host name resolves to an address that is not public. Nothing was sent.',
  dns: 'The host name could not be resolved.',
  refused: 'The server refused the connection: nothing listens at that address and port.',
  unreachable: 'There is no network route to the server.',
  reset: 'The server closed the connection before it responded.',
  tls: 'The TLS connection failed: the certificate is invalid, expired or for another name, or the versions do not match.',
  timeout: 'The server did not complete its response within 10 s.',
  too_large: 'The response headers were too large.',
  bad_answer: 'The response was not valid HTTP.',
  stopped: 'Paymesh stopped during the request and will send it again.',
  network: 'The connection failed for an unknown reason.',
}

/** What an operator should know about an error status; other statuses are described by their family. */
const STATUSES: Readonly<Record<number, string>> = {
  401: 'unauthorized; webhooks never carry credentials',
  403: 'forbidden, perhaps by a firewall or bot filter',
  404: 'not found; check the path of the URL',
  405: 'method not allowed; the path does not accept POST',
  410: 'gone; deliveries continue until you delete the endpoint',
  413: 'body too large',
  429: 'too many requests; retries follow the normal schedule',
  502: 'bad gateway; the application behind a proxy did not respond',
  503: 'unavailable',
  504: 'gateway timeout; the application behind a proxy was too slow',
}

/** Explains the error code of a failed attempt in one sentence; unknown codes are shown as they are. */
export function explainFailure(error: string): string {
  if (Object.hasOwn(SENTENCES, error)) return SENTENCES[error as HttpFault]
  const status = Number(/^status_(\d{3})$/.exec(error)?.[1])
  if (Number.isNaN(status)) return `The attempt failed: ${error}.`
  return `The server returned ${status} (${STATUSES[status] ?? familyOf(status)}).`
}

function familyOf(status: number): string {
  if (status < 300) return 'not a final response'
  if (status < 400) return 'redirect, which Paymesh does not follow; enter the final URL'
  return status < 500 ? 'request rejected' : 'internal error'
}
