import type { Mode } from './enumerations.ts'

/** A source of random bytes; the runtime's random port satisfies it. */
interface ByteSource {
  /** Cryptographically strong bytes. */
  bytes(length: number): Uint8Array
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 32
const CHECK_LENGTH = 6
const API_KEY = /^pm_(live|test)_[0-9A-Za-z]{38}$/

/**
 * A fresh API key: `pm_<mode>_`, 32 random base-62 characters (190 bits) and their 6-character CRC-32, so that a mistyped
 * or truncated key is refused without a look-up and secret scanners can recognise a real one.
 */
export function newApiKey(mode: Mode, random: ByteSource): string {
  let secret = ''
  while (secret.length < SECRET_LENGTH) {
    // 248 is the largest multiple of 62 in a byte; using the remaining values as well would favour the first characters.
    for (const byte of random.bytes(SECRET_LENGTH)) {
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += BASE62.charAt(byte % 62)
    }
  }
  const head = `pm_${mode}_${secret}`
  return head + checkOf(head)
}

/** The mode of a well-formed API key with a valid check sum, otherwise null. Does not check whether the key exists. */
export function parseApiKey(text: string): { readonly mode: Mode } | null {
  const match = API_KEY.exec(text)
  if (match === null) return null
  const cut = text.length - CHECK_LENGTH
  if (checkOf(text.slice(0, cut)) !== text.slice(cut)) return null
  return { mode: match[1] === 'live' ? 'live' : 'test' }
}

function checkOf(head: string): string {
  let rest = crc32(new TextEncoder().encode(head))
  let text = ''
  for (let position = 0; position < CHECK_LENGTH; position += 1) {
    text = BASE62.charAt(rest % 62) + text
    rest = (rest - (rest % 62)) / 62
  }
  return text
}

/** CRC-32 of ISO-HDLC (zlib, PNG, IEEE 802.3: reflected polynomial 0xEDB88320) over bytes, as an unsigned number. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
