import { MODES, type Mode } from '#shared/domain/enumerations.ts'
import type { Random } from './ports/runtime.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 32
const CHECK_LENGTH = 6
const FORM = /^pm_(live|test)_[0-9A-Za-z]{38}$/

/** A new API key: `pm_<mode>_` + 32 random base62 characters (190 bits) + 6 base62 characters of CRC-32 over all before them. */
export function newApiKeyText(mode: Mode, random: Random): string {
  let secret = ''
  while (secret.length < SECRET_LENGTH) {
    for (const byte of random.bytes(SECRET_LENGTH)) {
      // 248 is the largest multiple of 62 below 256: higher bytes would favour the first letters.
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += ALPHABET[byte % 62]
    }
  }
  const text = `pm_${mode}_${secret}`
  return text + checkText(text)
}

/** The mode of a well-formed key with a right checksum, else null; no store is asked. */
export function apiKeyMode(text: string): Mode | null {
  const mode = FORM.exec(text)?.[1]
  if (mode === undefined) return null
  const body = text.slice(0, -CHECK_LENGTH)
  if (checkText(body) !== text.slice(-CHECK_LENGTH)) return null
  return MODES.find((known) => known === mode) ?? null
}

function checkText(text: string): string {
  let rest = crc32(text)
  let check = ''
  for (let i = 0; i < CHECK_LENGTH; i++) {
    check = ALPHABET[rest % 62] + check
    rest = Math.floor(rest / 62)
  }
  return check
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** CRC-32 as in ISO 3309 and zlib, over ASCII text. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ text.charCodeAt(i)) & 0xff] ?? 0)
  }
  return (crc ^ 0xffffffff) >>> 0
}
