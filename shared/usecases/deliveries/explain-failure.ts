import type { HttpFault } from '#shared/ports/webhook-http.ts'

const SENTENCES: Readonly<Record<HttpFault, string>> = {
  bad_url: 'The URL cannot be called: it is malformed, or its scheme or port is not allowed. Nothing was sent.',
  blocked_address: 'The host name leads to an address that is not public. Nothing was sent.',
  dns: 'The host name could not be resolved.',
  refused: 'The receiver refused the connection: nothing listens at that address and port.',
  unreachable: 'No route leads to the receiver’s address.',
  reset: 'The receiver closed the connection before it had answered.',
  tls: 'The TLS connection failed: the certificate is invalid, expired or for another name, or the versions do not match.',
  timeout: 'The receiver had not answered completely after 10 s.',
  too_large: 'The headers of the answer were too large.',
  bad_answer: 'The answer was not valid HTTP.',
  stopped: 'Paymesh was stopping and cut the request off; it is sent again.',
  network: 'The connection failed for a reason that has no name of its own.',
}

/** What an operator should know about a status that is no success; the families have a sentence of their own. */
const STATUSES: Readonly<Record<number, string>> = {
  401: 'it asks for credentials, which webhooks never carry',
  403: 'something in front of it forbids the request, perhaps a firewall or bot filter',
  404: 'there is nothing at this path',
  405: 'this path takes no POST',
  410: 'it says that the path is gone for good; deliveries go on until the endpoint is deleted',
  413: 'it does not take bodies of this size',
  429: 'it is asked too often; the schedule stays as it is',
  502: 'a proxy in front of it had no answer from the application',
  503: 'it is overloaded or in maintenance',
  504: 'a proxy in front of it waited too long for the application',
}

/** A sentence for the machine word of a failed attempt, for people who read attempts; unknown words are shown as they are. */
export function explainFailure(error: string): string {
  if (Object.hasOwn(SENTENCES, error)) return SENTENCES[error as HttpFault]
  const status = Number(/^status_(\d{3})$/.exec(error)?.[1])
  if (Number.isNaN(status)) return `The attempt failed: ${error}.`
  return `The receiver answered ${status}: ${STATUSES[status] ?? familyOf(status)}.`
}

function familyOf(status: number): string {
  if (status < 300) return 'no final answer'
  if (status < 400) return 'a redirect, which is not followed; enter the final URL'
  return status < 500 ? 'it does not accept the request' : 'it failed while it handled the request'
}
