import { proofNeeded, proofRefused } from '#shared/contracts/proof-refusals.ts'
import { keySubject, needsProof } from '#shared/domain/ownership/ownership.ts'
import type { ProofWrite } from '#shared/ports/ownership.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { proofsOfRows } from './address-standing.ts'
import { type CheckProofDeps, checkProof, type GivenProof } from './check-proof.ts'
import type { ProofScope } from './proof-scope.ts'

/** Dependencies of deciding whether an addition needs a proof. */
export type RequireProofDeps = CheckProofDeps & Uses<'wallets' | 'workspaces'>

/**
 * Checks the proof that comes with an addition, and refuses an addition that needs one and has none. Null when none is needed and none
 * was given. Reads and messages are the same whether or not others use the addresses. Throws `VALIDATION_ERROR`.
 */
export async function requireProof(
  deps: RequireProofDeps,
  scope: ProofScope,
  given: GivenProof | undefined,
): Promise<ProofWrite | null> {
  if (scope.mode === 'test') {
    if (given === undefined) return null
    throw proofRefused('Test mode needs no proof of control.')
  }
  if (given !== undefined) return await checkProof(deps, scope, given, { every: true })
  const [liveWorkspaces, subjects] = await Promise.all([deps.workspaces.countLive(), subjectsOf(deps, scope)])
  const { mode, workspaceId } = scope
  if (needsProof({ mode, workspaceId, liveWorkspaces, subjects })) throw proofNeeded()
  return null
}

/** Whether this installation requires proofs at all, as information for pages. */
export async function requiresProofs(
  { workspaces }: Pick<RequireProofDeps, 'workspaces'>,
  mode: ProofScope['mode'],
): Promise<boolean> {
  return mode === 'live' && (await workspaces.countLive()) > 1
}

async function subjectsOf({ wallets }: RequireProofDeps, scope: ProofScope) {
  const { workspaceId, mode, family, kind, materialId, rows } = scope
  const [own, stored, keys] = await Promise.all([
    wallets.listWallets(workspaceId),
    wallets.findAddresses(
      mode,
      family,
      rows.map(({ matchKey }) => matchKey),
    ),
    wallets.findProofs([keySubject(materialId)]),
  ])
  const hasWallet = own.some((wallet) => wallet.materialId === materialId && wallet.displacedAt === undefined)
  if (kind === 'xpub') return [{ isOwn: hasWallet, proof: keys.get(keySubject(materialId)) ?? null }]
  const proofs = await proofsOfRows(wallets, stored)
  const held = new Set(stored.filter(({ heldBy }) => heldBy?.includes(materialId)).map(({ matchKey }) => matchKey))
  return rows.map(({ matchKey }) => ({
    isOwn: hasWallet && held.has(matchKey),
    proof: proofs.get(matchKey) ?? null,
  }))
}
