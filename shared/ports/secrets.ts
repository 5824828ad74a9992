import type { Ms } from '#shared/domain/invoice/model.ts'

/** Authenticated encryption under the installation's master key. */
export interface SecretBox {
  /** Seals text; `context` is bound to the envelope and must be given again to open it. */
  seal(plain: string, context: string): string
  /** Throws when the envelope was changed or belongs to another context or key. */
  open(sealed: string, context: string): string
}

/** Whether an envelope can be opened: it was not changed, and belongs to this context and to a key that is here. */
export function opens(secretBox: Pick<SecretBox, 'open'>, sealed: string, context: string): boolean {
  try {
    secretBox.open(sealed, context)
    return true
  } catch {
    return false
  }
}

/** The part of the secret box that moves stored envelopes from a former master key to the present one. */
export interface SecretRotation {
  /** Public id of the sealing key: shows which key an envelope needs, and reveals nothing about the key. */
  readonly keyId: string
  /** Prefix of every envelope under the present key, and of no other. */
  readonly prefix: string
  /**
   * The same secret under the present key. An envelope with a key id keeps its ciphertext: only its data key is wrapped
   * again, and the secret itself is never in the clear. Throws as `open` does.
   */
  reseal(sealed: string, context: string): string
}

/** Keyed digest of API keys under the installation's pepper: hex HMAC-SHA256. */
export interface KeyHasher {
  hash(apiKey: string): string
}

/** Data that shows whether a process has the keys of the installation. */
export interface KeyCanary {
  /** A known text under the master key. */
  readonly sealed: string
  /** The digest of a known text under the pepper. */
  readonly pepperDigest: string
}

/** The keys that sign the audit chain, one derived from each master key. */
export interface AuditKeys {
  /** Id of the signing key: that of the present master key. */
  readonly keyId: string
  /** HMAC-SHA256 of a text under the key with this id, lower-case hex; null when the key is not configured. */
  mac(keyId: string, text: string): string | null
}

/** The `SecretBox` context of the public key of a key material. */
export function keyMaterialContext(materialId: string): string {
  return `key-material:${materialId}`
}

/** The known text of the key canary: its sealed content, its context and its digest input. It is not secret. */
export const KEY_CANARY_TEXT = 'paymesh key canary'

/** The `SecretBox` context of the key canary. */
export const keyCanaryContext = (): string => KEY_CANARY_TEXT

/** The `SecretBox` context of the sealed values of a mail. */
export const mailContext = (mailId: string): string => `mail:${mailId}`

/** The `SecretBox` context of a user's authenticator secret. */
export const totpContext = (userId: string): string => `totp:${userId}`

/** The `SecretBox` context of an endpoint's signing secrets: an envelope copied to another endpoint cannot be decrypted. */
export function endpointSecretContext(endpointId: string): string {
  return `webhook-endpoint:${endpointId}`
}

/** Slow, salted hashes of passwords. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  /** False for a wrong password; with a null hash it takes the same time and returns false. */
  verify(hash: string | null, password: string): Promise<boolean>
}

/** Codes of an authenticator (RFC 6238: SHA-1, six digits, 30 s). */
export interface OneTimeCodes {
  /** A fresh secret of 160 bits in base 32. */
  newSecret(): string
  /** The text of the QR code for an authenticator. */
  uri(secret: string, email: string): string
  /** The time step of a valid code, the current one or a neighbour; null for any other text. */
  stepOf(secret: string, code: string, at: Ms): Promise<number | null>
}
