import { createHash, createHmac } from 'node:crypto'

/** How long a customer may respond, milliseconds. */
export const REFUND_LINK_LIFE_MS = 14 * 86_400_000

const FORM = /^[A-Za-z0-9_-]{43}$/

/** Makes and recognises the token of a refund's link. */
export type RefundLinks = ReturnType<typeof createRefundLinks>

/** Tokens under a secret of the installation, which must be the same in every process and across restarts. */
export function createRefundLinks(secret: Uint8Array) {
  const key = createHmac('sha256', secret).update('paymesh refund link').digest()
  return {
    /** 43 characters of base64url. Derived from the id each time, so that it is never stored. */
    tokenOf: (refundId: string): string => createHmac('sha256', key).update(refundId).digest('base64url'),
  }
}

/** The stored form of a token: its SHA-256 as hex. Null for text that cannot be a token. */
export function refundTokenHash(token: string): string | null {
  return FORM.test(token) ? createHash('sha256').update(token).digest('hex') : null
}
