import { challengeRefused, proofRefused } from '#shared/contracts/proof-refusals.ts'
import type { GivenSignature } from '#shared/contracts/signature-list.ts'
import type { AddressBook } from '#shared/ports/chain-catalog.ts'
import type { OwnershipRepository, ProofWrite, ProvedRow } from '#shared/ports/ownership.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { type ProofScope, signersOf } from './proof-scope.ts'

/** A signature takes a millisecond or two: other requests come in between after so many. */
const CHECKED_AT_ONCE = 20
/** A file with so many wrong lines is not read on. */
const WRONG_MAX = 20

/** What checking a proof needs. */
export interface CheckProofDeps {
  readonly addressBook: Pick<AddressBook, 'verifyControl'>
  readonly ownership: Pick<OwnershipRepository, 'findChallenge' | 'findDisplaced'>
  readonly clock: Clock
}

/** An answered challenge as a person gives it. */
export interface GivenProof {
  readonly nonce: string
  readonly signatures: readonly GivenSignature[]
}

/**
 * Checks the signatures of a challenge and finds out who is displaced; stores nothing. `every`: each address needs one, otherwise the
 * proof covers those that have one. Throws `VALIDATION_ERROR` that names wrong places and nobody else's business.
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
  if (foreign.length > 0) throw proofRefused(`Not an address of what is to be proved: signature ${places(foreign)}.`)
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
        ? 'This is no signature of this text by this address. Sign the whole text, unchanged, with the key of the address.'
        : `No signature of this text by the address: number ${places(wrong)} of the list.`,
    )
  }
  return proved
}

/** Lets requests in that arrived meanwhile. */
const otherWork = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const places = (numbers: readonly number[]): string => numbers.slice(0, WRONG_MAX).join(', ')
