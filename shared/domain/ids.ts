/** Crockford's base 32 in lower case: no i, l, o, u, so that ids can be read aloud. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** True for the text form of a UUID of any version (RFC 9562 §4), in either case. */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/**
 * Id of the outbox entry `seq` of an invoice: `evt_<uuid without dashes>_<seq base 36>`, followed for an event after the creation by `_<at base 36>`, the
 * time of its change in milliseconds. A store that comes back from an earlier time gives its numbers again, to other changes: receivers drop an id that they know.
 */
export function eventId(invoiceId: string, seq: number, at: number | null = null): string {
  const id = `evt_${invoiceId.replaceAll('-', '')}_${seq.toString(36)}`
  return at === null ? id : `${id}_${at.toString(36)}`
}

/**
 * Id of a delivery from a hex digest (at least 128 bits) over its unique fields: `whd_` and 26 base-32 characters.
 * Throws RangeError on a shorter or malformed digest.
 */
export function deliveryIdFrom(hashHex: string): string {
  if (!/^[0-9a-f]{32,}$/i.test(hashHex)) throw new RangeError('the digest is too short or not hexadecimal')
  return `whd_${base32(BigInt(`0x${hashHex.slice(0, 32)}`))}`
}

/** 128 bits as 26 characters, most significant first. */
function base32(value: bigint): string {
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += BASE32.charAt(asIndex((value >> shift) & 31n))
  return text
}

/** A bigint below 32 as an array index; the domain does not use `Number`. */
function asIndex(value: bigint): number {
  return parseInt(value.toString(), 10)
}
