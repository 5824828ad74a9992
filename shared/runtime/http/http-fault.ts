import { errorCauses } from '#shared/contracts/error-text.ts'
import type { HttpFault } from '#shared/ports/webhook-http.ts'
import { BlockedAddress, NameNotResolved } from './egress-connector.ts'

const FAULT_BY_CODE: Readonly<Record<string, HttpFault>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too_large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad_answer',
  UND_ERR_INVALID_ARG: 'bad_url',
  ERR_INVALID_URL: 'bad_url',
  EPROTO: 'tls',
}

/** OpenSSL's verification results and Node's own TLS errors carry codes of these forms. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/

/** The error code for a failed request, by class and code of the error and of its causes, never by its text. */
export function httpFault(error: unknown): HttpFault {
  for (const at of errorCauses(error)) {
    if (!(at instanceof Error)) continue
    if (at instanceof BlockedAddress) return 'blocked_address'
    if (at instanceof NameNotResolved) return 'dns'
    const code = 'code' in at && typeof at.code === 'string' ? at.code : ''
    const known = FAULT_BY_CODE[code]
    if (known !== undefined) return known
    if (TLS_CODE.test(code)) return 'tls'
    // The parser reports codes such as HPE_INVALID_CONSTANT; undici 7 often omits the code.
    if (code.startsWith('HPE_') || at.name === 'HTTPParserError')
      return code === 'HPE_HEADER_OVERFLOW' ? 'too_large' : 'bad_answer'
  }
  return 'network'
}
