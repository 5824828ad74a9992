import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { Clock } from './ports/runtime.ts'
import type { SecretBox } from './ports/secrets.ts'
import type { KeyMaterial } from './ports/wallets.ts'

/** A normalised extended public key as `AddressBook.normalise` or `sandboxKey` gives it. */
export interface PublicKeySource {
  readonly mode: Mode
  readonly family: Family
  readonly xpub: string
  readonly fingerprint: string
  readonly sandbox: boolean
}

/**
 * The key material record of a public key: one per installation, mode, family and fingerprint, with the key sealed
 * under the record's id. Nothing is derived yet.
 */
export function newKeyMaterial(deps: { secretBox: SecretBox; clock: Clock }, source: PublicKeySource): KeyMaterial {
  const { mode, family, xpub, fingerprint, sandbox } = source
  const id = `${mode}:${family}:${fingerprint}`
  return {
    id,
    mode,
    family,
    kind: 'xpub',
    fingerprint,
    sealed: deps.secretBox.seal(xpub, keyMaterialContext(id)),
    sandbox,
    nextIndex: 0,
    derivedCount: 0,
    returned: [],
    createdAt: deps.clock.now(),
  }
}

/** The extended public key of a record. Throws when the envelope was changed or sealed under another master key. */
export function openKeyMaterial(secretBox: SecretBox, material: Pick<KeyMaterial, 'id' | 'sealed'>): string {
  return secretBox.open(material.sealed, keyMaterialContext(material.id))
}

/** What the public key of a key material is sealed for. */
export function keyMaterialContext(materialId: string): string {
  return `key-material:${materialId}`
}
