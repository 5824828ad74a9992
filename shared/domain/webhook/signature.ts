/** How far a receiver's clock may differ from the signature's time, in seconds, to either side (specification §6). */
const SIGNATURE_TOLERANCE_S = 300

/** What a signature header says. */
interface SignatureClaim {
  /** Unix seconds. */
  readonly t: number
  /** Lower-case hex digest. */
  readonly v1: string
}

/** What is needed to check a delivery. */
export interface SignatureCheck {
  /** Value of `X-Webhook-Signature`. */
  readonly header: string
  /** Raw body bytes, never a re-serialised form. */
  readonly body: Uint8Array
  /** The receiver's clock in Unix seconds. */
  readonly nowSeconds: number
  /** Hex HMAC-SHA256 under the endpoint's secret. */
  readonly hmacHex: (text: Uint8Array) => string
}

const HEADER = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/

/** The bytes that are signed: `<t>.<raw body>`, `t` in Unix seconds. */
export function signedText(t: number, body: Uint8Array): Uint8Array {
  const prefix = new TextEncoder().encode(`${t}.`)
  const text = new Uint8Array(prefix.length + body.length)
  text.set(prefix)
  text.set(body, prefix.length)
  return text
}

/** The value of `X-Webhook-Signature`: `t=<unix seconds>,v1=<hex digest>`. */
export function signatureHeader(t: number, hex: string): string {
  return `t=${t},v1=${hex}`
}

/** Reads a signature header; null when it has any other form. */
export function parseSignatureHeader(header: string): SignatureClaim | null {
  const match = HEADER.exec(header)
  if (match === null) return null
  return { t: parseInt(match[1] ?? '', 10), v1: match[2] ?? '' }
}

/**
 * Judges a delivery as a receiver must: form, then digest (compared in constant time), then age. A wrong digest is
 * reported before a wrong time, so that nobody learns from the answer whether a forged time was acceptable.
 */
export function verifySignature(check: SignatureCheck): 'valid' | 'malformed' | 'mismatch' | 'outdated' {
  const claim = parseSignatureHeader(check.header)
  if (claim === null) return 'malformed'
  if (!equalInConstantTime(check.hmacHex(signedText(claim.t, check.body)), claim.v1)) return 'mismatch'
  const age = check.nowSeconds - claim.t
  return age > SIGNATURE_TOLERANCE_S || age < -SIGNATURE_TOLERANCE_S ? 'outdated' : 'valid'
}

/** Takes the same time wherever two texts of equal length differ. */
function equalInConstantTime(left: string, right: string): boolean {
  let difference = left.length ^ right.length
  for (let index = 0; index < right.length; index += 1) {
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  }
  return difference === 0
}
