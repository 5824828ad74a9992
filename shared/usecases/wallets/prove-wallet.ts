import { PaymeshError } from '#shared/contracts/errors.ts'
import { proofRefused } from '#shared/contracts/proof-refusals.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type ChangedWallet, type ChangeWalletsDeps, storeAnnounced } from './change-wallets.ts'
import { checkProof, type GivenProof } from './check-proof.ts'
import { listedRows, walletScope } from './proof-scope.ts'

/**
 * Proves that a workspace controls the receiving addresses of one of its wallets, in live mode: all of a key or single address, the signed addresses
 * of a pool. Every other workspace that uses them is displaced, and the owners of both sides are mailed, in one transaction with the
 * proof. A displaced wallet may be enabled again afterwards. Throws `NOT_FOUND`, and `VALIDATION_ERROR` as `checkProof` does.
 */
export async function proveWallet(
  deps: ChangeWalletsDeps & Uses<'wallets'>,
  input: WorkspaceAction & { readonly walletId: string; readonly proof: GivenProof },
): Promise<ChangedWallet & { readonly proved: number }> {
  const { workspaceId, mode, walletId, opId } = input
  const wallet = requireOwn(await deps.wallets.findWallet(walletId), input)
  if (mode === 'test') throw proofRefused('Test mode needs no proof of control.')
  const auditId = `wallet_proved:${wallet.id}:${opId}`
  const proved = () => deps.ownership.countProved(workspaceId, wallet.materialId)
  if (await deps.walletOperations.isRecorded(auditId))
    return { wallet, effectiveAt: null, changed: false, proved: await proved() }
  const scope = await walletScope(deps, wallet)
  if (scope === null) throw proofRefused('This wallet has no address left to prove.')
  const proof = await checkProof(deps, scope, input.proof, { every: false })
  const isListed = wallet.kind !== 'xpub'
  const rows = isListed ? listedRows({ ...scope, rows: proof.rows }) : []
  const listings = isListed ? [{ materialId: wallet.materialId, rows, offeredFrom: null }] : []
  const reported = { wallet, action: 'wallet.proved' as const, effectiveAt: null, auditId, key: null, proof }
  const changed = await storeAnnounced(
    deps,
    input,
    { ...reported, first: proof.rows[0]?.address ?? null },
    (auditWrite) => deps.walletOperations.note(auditWrite, listings, proof),
  )
  const stored = await deps.wallets.findWallet(wallet.id)
  if (stored === null) throw new PaymeshError('NOT_FOUND')
  return { wallet: stored, effectiveAt: null, changed, proved: await proved() }
}
