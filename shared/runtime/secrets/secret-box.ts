import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { KeyHasher, SecretBox, SecretRotation } from '#shared/ports/secrets.ts'

const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/** Master keys of 32 bytes: the first seals, every one decrypts. */
export type MasterKeys = readonly [Uint8Array, ...Uint8Array[]]

/**
 * Seals texts in envelopes: AES-256-GCM under a fresh data key, which is itself sealed by the master key, with a random 96-bit IV each
 * (NIST SP 800-38D §8.2.2) and the context as additional authenticated data of both. The text form is
 * `v2.<key id>.<sealed data key>.<sealed text>` in base64url.
 * `open` throws when any part was changed, when the context differs, or when the key is none of `keys`.
 */
export function createSecretBox(keys: Uint8Array | MasterKeys): SecretBox & SecretRotation {
  const ring = keys instanceof Uint8Array ? ([keys] as const) : keys
  if (ring.some((key) => key.length !== KEY_BYTES)) throw new Error('a master key must have 32 bytes')
  const byId = new Map(ring.map((key) => [masterKeyId(key), key]))
  const [present] = ring
  const keyId = masterKeyId(present)
  const prefix = `v2.${keyId}.`

  const dataKeyOf = (id: string | undefined, wrapped: string | undefined, aad: Buffer): Buffer => {
    const key = byId.get(id ?? '')
    if (key === undefined) throw new Error(`sealed under master key ${id}, which is not configured here`)
    return decrypt(key, Buffer.from(wrapped ?? '', 'base64url'), aad)
  }
  const seal = (plain: string, context: string): string => {
    const aad = Buffer.from(context, 'utf8')
    const dataKey = randomBytes(KEY_BYTES)
    const parts = [encrypt(present, dataKey, aad), encrypt(dataKey, Buffer.from(plain, 'utf8'), aad)]
    return `${prefix}${parts.map((part) => part.toString('base64url')).join('.')}`
  }
  const open = (sealed: string, context: string): string => {
    const aad = Buffer.from(context, 'utf8')
    const [version, ...parts] = sealed.split('.')
    const [id, wrapped, text] = parts
    if (version !== 'v2' || parts.length !== 3) throw new Error('not a sealed text')
    return decrypt(dataKeyOf(id, wrapped, aad), Buffer.from(text ?? '', 'base64url'), aad).toString('utf8')
  }
  return {
    keyId,
    prefix,
    seal,
    open,
    reseal(sealed, context) {
      const aad = Buffer.from(context, 'utf8')
      const [, id, wrapped, text] = sealed.split('.')
      // Values that could not be decrypted afterwards are not moved.
      open(sealed, context)
      return `${prefix}${encrypt(present, dataKeyOf(id, wrapped, aad), aad).toString('base64url')}.${text}`
    },
  }
}

/** Public id of a master key: a keyed digest, so that the id can be stored with the ciphertext; 48 bits distinguish the few keys of a ring. */
export function masterKeyId(key: Uint8Array): string {
  return createHmac('sha256', key).update('paymesh master key id').digest().subarray(0, 6).toString('base64url')
}

function encrypt(key: Uint8Array, plain: Uint8Array, aad: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(aad)
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, sealed, cipher.getAuthTag()])
}

function decrypt(key: Uint8Array, bytes: Buffer, aad: Buffer): Buffer {
  if (bytes.length < IV_BYTES + TAG_BYTES) throw new Error('not a sealed text')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(aad)
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()])
}

/** Digests API keys as lower-case hex HMAC-SHA256 under the installation's pepper: equal keys give equal digests. */
export function createKeyHasher(pepper: Uint8Array): KeyHasher {
  return { hash: (apiKey) => createHmac('sha256', pepper).update(apiKey, 'utf8').digest('hex') }
}
