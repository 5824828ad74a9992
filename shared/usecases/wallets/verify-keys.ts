import { FAMILIES, MODES } from '#shared/domain/enumerations.ts'
import type { SecretBox } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { openKeyMaterial } from './key-material.ts'

/** Dependencies of checking derivation. */
export type VerifyKeysDeps = Uses<'wallets' | 'addressBook' | 'secretBox'>

/**
 * Compares the first addresses of every family's sandbox key and of every stored key with those of a second library, a few
 * milliseconds each. Throws when one differs, so that the process that derives does not start. A key that cannot be
 * decrypted is skipped: deriving reports it.
 */
export async function verifyKeys({ wallets, addressBook, secretBox }: VerifyKeysDeps): Promise<void> {
  for (const family of FAMILIES) {
    for (const mode of MODES) addressBook.verify(family, mode, addressBook.sandboxKey(family).xpub)
  }
  for (const material of await wallets.listMaterials()) {
    if (material.kind !== 'xpub' || material.sandbox) continue
    const xpub = opened(secretBox, material)
    if (xpub !== null) addressBook.verify(material.family, material.mode, xpub)
  }
}

function opened(secretBox: SecretBox, material: Parameters<typeof openKeyMaterial>[1]): string | null {
  try {
    return openKeyMaterial(secretBox, material)
  } catch {
    return null
  }
}
