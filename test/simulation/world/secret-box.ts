import { createHmac } from 'node:crypto'
import type { KeyHasher, SecretBox, SecretRotation } from '#shared/ports/secrets.ts'

const mac = (text: string) => createHmac('sha256', 'simulated master key').update(text).digest('hex').slice(0, 24)

/** Envelopes that open only in their context. What is inside is readable by nobody who looks for it as plain text. */
export const simSecretBox: SecretBox & Pick<SecretRotation, 'keyId'> = {
  keyId: 'simulated',
  seal: (plain, context) => `sealed.${mac(`${context}\n${plain}`)}.${Buffer.from(plain).toString('base64')}`,
  open: (sealed, context) => {
    const [, tag, text = ''] = sealed.split('.')
    const plain = Buffer.from(text, 'base64').toString()
    if (tag !== mac(`${context}\n${plain}`)) throw new Error('the envelope does not open in this context')
    return plain
  },
}

/** The digest under which API keys are stored. */
export const simKeyHasher: KeyHasher = { hash: (apiKey) => mac(`key\n${apiKey}`) }
