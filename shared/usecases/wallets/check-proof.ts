import { challengeRefused, proofRefused } from '#shared/contracts/proof-refusals.ts'
import type { GivenSignature } from '#shared/contracts/signature-list.ts'
import type { ProofWrite, ProvedRow } from '#shared/ports/ownership.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ProofScope, signersOf } from './proof-scope.ts'

/** A signature takes a millisecond or two: after this many, other requests get their turn. */
const CHECKED_AT_ONCE = 20
/** Reading stops after this many wrong lines. */
const WRONG_MAX = 20

/** Dependencies of checking a proof. */
export type CheckProofDeps = Uses<'addressBook' | 'ownership' | 'clock'>

/** A signed challenge as a person submits it. */
export interface GivenProof {
  readonly nonce: string
  readonly signatures: readonly GivenSignature[]
}

/**
 * Checks the signatures of a challenge and finds the workspaces that are displaced; stores nothing. `every`: each address needs one, otherwise the
 * proof covers the signed addresses. Throws `VALIDATION_ERROR` that names wrong entries and reveals nothing about other workspaces.
 */
export async function checkProof(
  deps: CheckProofDeps,
  scope: ProofScope,
  given: GivenProof,
  { every }: { readonly every: boolean },
): Promise<ProofWrite> {
  const { workspaceId, mode, family, materialId, subjectHash, kind } = scope
  const challenge = await deps.ownership.findChallenge(given.nonce)
  const provedAt = deps.clock.now()
  const holds =
    challenge !== null &&
    challenge.workspaceId === workspaceId &&
    challenge.mode === mode &&
    challenge.family === family &&
    challenge.subjectHash === subjectHash &&
    challenge.expiresAt > provedAt
  if (!holds) throw challengeRefused()
  const proved = await signedRows(deps, scope, given.signatures, { text: challenge.text, every })
  const isKey = kind === 'xpub'
  const rows = isKey ? scope.rows : proved
  const proof = { nonce: given.nonce, subjectHash, workspaceId, mode, family, materialId, isKey, rows, provedAt }
  return { ...proof, displaced: await deps.ownership.findDisplaced(proof) }
}

async function signedRows(
  { addressBook }: CheckProofDeps,
  scope: ProofScope,
  signatures: readonly GivenSignature[],
  { text, every }: { readonly text: string; readonly every: boolean },
): Promise<readonly ProvedRow[]> {
  const signers = signersOf(scope)
  const spelled = (address: string) => (scope.family === 'evm' ? address.toLowerCase() : address)
  const [only] = signatures
  const isAlone = signers.length === 1 && signatures.length === 1 && only?.address === ''
  const byAddress = new Map(
    signatures.map(({ address, signature }) => [
      isAlone ? spelled(signers[0]?.address ?? '') : spelled(address.trim()),
      signature,
    ]),
  )
  const known = new Set(signers.map(({ address }) => spelled(address)))
  const foreign = signatures.flatMap(({ address }, index) =>
    isAlone || known.has(spelled(address.trim())) ? [] : [index + 1],
  )
  if (foreign.length > 0)
    throw proofRefused(`Signature ${places(foreign)} is for an address that is not part of this wallet.`)
  const wrong: number[] = []
  const proved: ProvedRow[] = []
  for (const [index, row] of signers.entries()) {
    const signature = byAddress.get(spelled(row.address))
    if (index % CHECKED_AT_ONCE === CHECKED_AT_ONCE - 1) await otherWork()
    if (signature === undefined && !every) continue
    if (signature !== undefined && addressBook.verifyControl(scope.family, row.matchKey, text, signature))
      proved.push(row)
    else wrong.push(index + 1)
    if (wrong.length >= WRONG_MAX) break
  }
  if (wrong.length > 0 || proved.length === 0) {
    throw proofRefused(
      signers.length === 1
        ? 'The signature does not match this text and address. Sign the full, unchanged text with the key of the address.'
        : `The signature does not match the text and address: number ${places(wrong)} in the list.`,
    )
  }
  return proved
}

/** Lets other requests run. */
const otherWork = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const places = (numbers: readonly number[]): string => numbers.slice(0, WRONG_MAX).join(', ')
