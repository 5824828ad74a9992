import type { Family, Mode } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import type { KeyHistory, KeyMaterial } from '#shared/ports/key-material.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { keyMaterialContext, type SecretBox } from '#shared/ports/secrets.ts'

/** An extended public key from `AddressBook.normalise` or `sandboxKey`. */
export interface PublicKeySource {
  readonly mode: Mode
  readonly family: Family
  readonly xpub: string
  readonly fingerprint: string
  readonly sandbox: boolean
  /** Shown to people; null where addresses are not scripts. */
  readonly scriptType: ScriptType | null
  /** Absent = not searched. */
  readonly history?: KeyHistory
  /** Indexes below it may have been issued before; absent = none was. */
  readonly firstFree?: number
}

/**
 * The key material record of a public key: one per installation, mode, family and fingerprint, with the key sealed
 * under the record's id. Nothing is derived yet.
 */
export function newKeyMaterial(deps: { secretBox: SecretBox; clock: Clock }, source: PublicKeySource): KeyMaterial {
  const { mode, family, xpub, fingerprint, sandbox, scriptType, history, firstFree = 0 } = source
  const id = keyMaterialId(source)
  const startIndex = Math.max(history?.startIndex ?? 0, firstFree)
  return {
    id,
    mode,
    family,
    kind: 'xpub',
    fingerprint,
    sealed: deps.secretBox.seal(xpub, keyMaterialContext(id)),
    sandbox,
    nextIndex: startIndex,
    derivedCount: 0,
    returned: [],
    ...(startIndex > 0 && { reclaimFrom: startIndex }),
    scriptType,
    ...(history !== undefined && { history }),
    createdAt: deps.clock.now(),
  }
}

/** The record id of a public key. */
export function keyMaterialId({
  mode,
  family,
  fingerprint,
}: Pick<PublicKeySource, 'mode' | 'family' | 'fingerprint'>): string {
  return `${mode}:${family}:${fingerprint}`
}

/** The extended public key of a record. Throws when the envelope was changed or sealed under another master key. */
export function openKeyMaterial(secretBox: SecretBox, material: Pick<KeyMaterial, 'id' | 'sealed'>): string {
  return secretBox.open(material.sealed, keyMaterialContext(material.id))
}
