import { createHash } from 'node:crypto'
import { deployText } from './deploy-files.ts'

/** Values of `env.example`, with what its owner has to fill in. */
export function filledIn(): Record<string, string> {
  const lines = deployText('compose', 'env.example').split('\n')
  const pairs = lines.flatMap((line) => {
    const match = /^([A-Z_]+)=(.*)$/.exec(line)
    return match === null ? [] : [[match[1] ?? '', match[2] ?? ''] as const]
  })
  const key = (byte: number) => createHash('sha256').update(`key ${byte}`).digest('base64')
  const secrets = { PAYMESH_MASTER_KEY: key(1), PAYMESH_KEY_PEPPER: key(2), MONGO_PASSWORD: 'm', REDIS_PASSWORD: 'r' }
  return { ...Object.fromEntries(pairs), ...secrets }
}

/** What Compose makes of `${NAME:?…}`, `${NAME:-default}` and `${NAME:+replacement}`. */
export function interpolate(text: string, values: Record<string, string>): string {
  return text.replace(/\$\{([A-Z_]+)(?::([?+-])([^}]*))?\}/g, (_whole, name: string, how: string, rest: string) => {
    const value = values[name]
    if (how === '+') return value ? rest : ''
    if (value) return value
    if (how === '?') throw new Error(`${name}: ${rest}`)
    return rest ?? ''
  })
}

/** Settings that the image, the names of this machine or its one proxy decide, so that `settings.env` need not reach them. */
export const FIXED_HERE: readonly string[] = [
  'MONGO_URL',
  'REDIS_URL',
  'PAYMESH_PUBLIC_API_URL',
  'PAYMESH_PUBLIC_CHECKOUT_URL',
  'PAYMESH_PUBLIC_ADMIN_URL',
  'PAYMESH_TRUSTED_PROXIES',
  // Where the volume of the marks is mounted.
  'PAYMESH_MARKS_DIR',
]
