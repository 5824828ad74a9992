import { createHmac, hkdfSync } from 'node:crypto'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import { type MasterKeys, masterKeyId } from './secret-box.ts'

const KEY_BYTES = 32

/**
 * The keys of the audit chain: one of 32 bytes for each master key, by HKDF-SHA256 (RFC 5869) with an empty salt and the name of its
 * use, so that the signing keys decrypt no secret. The first master key signs; every one verifies.
 */
export function createAuditKeys(masterKeys: Uint8Array | MasterKeys): AuditKeys {
  return createSigningKeys(masterKeys, 'paymesh audit chain')
}

/** The keys that sign marks outside the store; they verify no row of the audit chain, and its keys verify no mark. */
export function createMarkKeys(masterKeys: Uint8Array | MasterKeys): AuditKeys {
  return createSigningKeys(masterKeys, 'paymesh marks')
}

function createSigningKeys(masterKeys: Uint8Array | MasterKeys, use: string): AuditKeys {
  const ring = masterKeys instanceof Uint8Array ? ([masterKeys] as const) : masterKeys
  const byId = new Map(ring.map((key) => [masterKeyId(key), derived(key, use)]))
  return {
    keyId: masterKeyId(ring[0]),
    mac: (keyId, text) => {
      const key = byId.get(keyId)
      return key === undefined ? null : createHmac('sha256', key).update(text, 'utf8').digest('hex')
    },
  }
}

function derived(masterKey: Uint8Array, use: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterKey, new Uint8Array(0), use, KEY_BYTES))
}
