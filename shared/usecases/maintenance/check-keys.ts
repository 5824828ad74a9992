import type { KeyCanaryRepository } from '#shared/db/installation/key-canary-repository.ts'
import type { SealedSecretRepository } from '#shared/db/maintenance/sealed-secret-repository.ts'
import { KEY_CANARY_TEXT, type KeyHasher, opens, type SecretBox } from '#shared/ports/secrets.ts'

/** Dependencies of checking the keys; null for a key that the process does not have. */
export interface CheckKeysDeps {
  readonly canary: KeyCanaryRepository
  readonly sealed: SealedSecretRepository
  /** Under the master keys of this process. */
  readonly secretBox: SecretBox | null
  /** Under the pepper of this process. */
  readonly hasher: KeyHasher | null
}

/**
 * Compares the keys of this process with those of the installation. Returns a sentence that names the wrong key and the
 * fix, or null when the keys are right. The first process with both keys stores the canary; an installation that has
 * sealed values already gets one only from a process that decrypts them, so that a wrong key cannot declare itself right.
 * Throws when the store does not respond.
 */
export async function checkKeys(deps: CheckKeysDeps): Promise<string | null> {
  const { canary, secretBox, hasher } = deps
  const { isRecorded, fault } = await compareKeys(deps)
  if (isRecorded || fault !== null || secretBox === null || hasher === null) return fault
  await canary.insert({
    sealed: secretBox.seal(KEY_CANARY_TEXT, KEY_CANARY_TEXT),
    pepperDigest: hasher.hash(KEY_CANARY_TEXT),
  })
  const now = await compareKeys(deps)
  if (!now.isRecorded) throw new Error('the key canary was stored and cannot be read')
  return now.fault
}

/** What the store says about the keys of this process. */
export interface KeyComparison {
  /** False until a process with both keys has stored the canary: then only a wrong master key may be noticed. */
  readonly isRecorded: boolean
  /** Names the wrong key and the fix; null when nothing says that a key is wrong. */
  readonly fault: string | null
}

/** Compares the keys without storing anything. Throws when the store does not respond. */
export async function compareKeys(deps: CheckKeysDeps): Promise<KeyComparison> {
  const { canary, secretBox, hasher } = deps
  const stored = await canary.find()
  if (stored === null) {
    const isWrong = secretBox !== null && hasher !== null && !(await opensWhatIsThere(deps, secretBox))
    return { isRecorded: false, fault: isWrong ? WRONG_MASTER : null }
  }
  const faults = [
    ...(secretBox !== null && !opens(secretBox, stored.sealed, KEY_CANARY_TEXT) ? [WRONG_MASTER] : []),
    ...(hasher !== null && hasher.hash(KEY_CANARY_TEXT) !== stored.pepperDigest ? [WRONG_PEPPER] : []),
  ]
  return { isRecorded: true, fault: faults.length === 0 ? null : faults.join(' ') }
}

const WRONG_MASTER =
  'PAYMESH_MASTER_KEY does not match this installation: set the key that sealed its secrets, or add it to PAYMESH_MASTER_KEYS_OLD.'
const WRONG_PEPPER = 'PAYMESH_KEY_PEPPER does not match this installation: with another value no API key works.'

/** The first sealed value of the store decides; without any, no other key can have been used. */
async function opensWhatIsThere({ sealed }: CheckKeysDeps, secretBox: SecretBox): Promise<boolean> {
  for (const collection of sealed.collections) {
    const [holder] = await sealed.page(collection, null, 1)
    const [envelope] = holder?.envelopes ?? []
    if (envelope !== undefined) return opens(secretBox, envelope.sealed, envelope.context)
  }
  return true
}
