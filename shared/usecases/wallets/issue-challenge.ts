import { proofRefused } from '#shared/contracts/proof-refusals.ts'
import { CHALLENGE_LIFE_MS, challengeText } from '#shared/domain/ownership/ownership.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { MaterialInput } from './prepare-material.ts'
import { enteredScope, type ProofScope, signersOf, walletScope } from './proof-scope.ts'

const NONCE_BYTES = 16
/** Addresses shown next to the text. */
const SHOWN = 5

/** Dependencies of issuing a challenge. */
export type IssueChallengeDeps = Uses<'addressBook' | 'secretBox' | 'wallets' | 'ownership' | 'random' | 'clock'>

/** The subject of the proof: a wallet of the workspace, or material about to be added. */
export interface IssueChallengeInput extends WorkspaceAction {
  readonly about: { readonly walletId: string } | { readonly entered: MaterialInput }
}

/**
 * Gives a workspace a text whose signature proves, once and within 24 hours, that it controls a wallet. It reveals nothing about other
 * workspaces and costs the same whatever they have. Repeating the operation returns the same text. Throws `NOT_FOUND` for a
 * wallet of others and `VALIDATION_ERROR` for material that cannot be added, and in test mode.
 */
export async function issueChallenge(deps: IssueChallengeDeps, input: IssueChallengeInput) {
  const { workspaceId, mode, opId, actor, reason } = input
  if (mode === 'test') throw proofRefused('Test mode needs no proof of control.')
  const scope = await scopeOf(deps, input)
  const at = deps.clock.now()
  const nonce = Buffer.from(deps.random.bytes(NONCE_BYTES)).toString('hex')
  const expiresAt = at + CHALLENGE_LIFE_MS
  const installationId = await deps.ownership.installationId(deps.random.uuid())
  const validUntil = new Date(expiresAt).toISOString()
  const text = challengeText({ installationId, workspaceId, mode, subject: scope.words, nonce, validUntil })
  const { family, kind, materialId, subjectHash } = scope
  const challenge = { nonce, workspaceId, mode, family, subjectHash, text, opId, createdAt: at, expiresAt }
  const detail = { family, kind, nonce, subject: scope.words, ...(reason !== null && { reason }) }
  const action = 'wallet.proof_requested' as const
  const act = { id: `proof_requested:${workspaceId}:${opId}`, at, actor, action, detail }
  const audit = { ...act, subject: materialId, workspaceId, mode }
  const stored = await deps.ownership.openChallenge(challenge, { audit })
  const signers = signersOf(scope)
  const first = signers.slice(0, SHOWN).map(({ address }) => address)
  return {
    nonce: stored.nonce,
    text: stored.text,
    expiresAt: stored.expiresAt,
    signers: { count: signers.length, first },
  }
}

async function scopeOf(deps: IssueChallengeDeps, input: IssueChallengeInput): Promise<ProofScope> {
  const { workspaceId, mode, about } = input
  if ('entered' in about) return enteredScope(deps, { ...about.entered, workspaceId, mode })
  const wallet = requireOwn(await deps.wallets.findWallet(about.walletId), input)
  const scope = await walletScope(deps, wallet)
  if (scope === null) throw proofRefused('This wallet has no address left to prove.')
  return scope
}
