import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SecretBox } from '#shared/usecases/ports/secrets.ts'

const VERSION = 'v1'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals texts with AES-256-GCM under the 32-byte master key. The envelope is `v1.<iv>.<tag>.<ciphertext>` in base64url,
 * with a fresh random 96-bit IV (NIST SP 800-38D §8.2.2) and the context as additional authenticated data.
 * `open` throws when any part was changed, or when the context or the key is another one.
 */
export function createSecretBox(masterKey: Uint8Array): SecretBox {
  if (masterKey.length !== 32) throw new Error('the master key must have 32 bytes')
  return {
    seal(plain, context) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', masterKey, iv)
      cipher.setAAD(Buffer.from(context, 'utf8'))
      const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return [VERSION, ...[iv, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))].join('.')
    },
    open(envelope, context) {
      const [version, ...parts] = envelope.split('.')
      const [iv, tag, sealed] = parts.map((part) => Buffer.from(part, 'base64url'))
      if (version !== VERSION || parts.length !== 3 || iv?.length !== IV_BYTES || tag?.length !== TAG_BYTES) {
        throw new Error('not a sealed text')
      }
      const decipher = createDecipheriv('aes-256-gcm', masterKey, iv)
      decipher.setAAD(Buffer.from(context, 'utf8'))
      decipher.setAuthTag(tag)
      return Buffer.concat([decipher.update(sealed ?? Buffer.alloc(0)), decipher.final()]).toString('utf8')
    },
  }
}
