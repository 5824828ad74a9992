import type { Mode } from '#shared/domain/enumerations.ts'
import { readPlainUrl } from './plain-url.ts'
import { text } from './text.ts'

/** What the document says about return URLs beyond their form. */
export const RETURN_URL_RULE =
  'An https URL without credentials, as browsers write it; with a test key also http on this machine: `localhost`, `*.localhost`, `*.test` ' +
  'or a loopback address.'

/** Names that RFC 6761 and RFC 2606 reserve for this machine and for tests, and the addresses of the loopback interface. */
const LOCAL_HOST =
  /^(?:(?:[a-z0-9_-]+\.)*localhost|(?:[a-z0-9_-]+\.)+test|127\.[0-9.]+|\[::1\]|\[::ffff:7f[0-9a-f:]+\])$/

/**
 * Where the payer goes after the checkout: https, or http on a developer's own machine with a test key. Without credentials. We never
 * fetch it: it is only a link for the browser of the payer.
 */
export function returnUrl(mode: Mode) {
  return text(2_048)
    .meta({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$' })
    .superRefine((value, context) => {
      const fault = faultOf(value, mode)
      if (fault !== null) context.addIssue({ code: 'custom', message: fault, input: value })
    })
}

function faultOf(text: string, mode: Mode): string | null {
  const { url, fault } = readPlainUrl(text)
  if (url === null) return fault
  const local = url.protocol === 'http:' && mode === 'test' && LOCAL_HOST.test(url.hostname)
  if (url.protocol !== 'https:' && !local) return refusal(mode)
  return url.username !== '' || url.password !== '' ? 'must not carry credentials' : null
}

function refusal(mode: Mode): string {
  return mode === 'test'
    ? 'must be an https URL, or http on this machine: localhost, *.localhost, *.test or a loopback address'
    : 'must be an https URL: http on your own machine works with test keys only'
}
