import { createHmac } from 'node:crypto'
import type { KeyHasher } from '#shared/ports/secrets.ts'

/** Digests API keys as lower-case hex HMAC-SHA256 under the installation's pepper: equal keys give equal digests. */
export function createKeyHasher(pepper: Uint8Array): KeyHasher {
  return { hash: (apiKey) => createHmac('sha256', pepper).update(apiKey, 'utf8').digest('hex') }
}
