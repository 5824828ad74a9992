import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Wallet, WalletRepository } from '#shared/ports/wallets.ts'
import type { WorkspaceRepository } from '#shared/ports/workspaces.ts'
import { walletMails } from './change-wallets.ts'

/** Dependencies of ending new quotes on a wallet. */
export interface DisableWalletDeps extends Pick<Runtime, 'clock' | 'random' | 'logger'> {
  readonly wallets: Pick<WalletRepository, 'findWallet' | 'setDisabled'>
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
  /** E-mail addresses of all owners of a workspace. */
  ownersOf(workspaceId: string): Promise<readonly string[]>
}

/**
 * Ends new quotes on a wallet, in every process within its five seconds of cache. Issued addresses stay watched and payments are
 * credited as before; the actor is recorded in the audit log and, for a live wallet, mailed to every owner. Disabling a disabled
 * wallet changes nothing. With `dryRun` nothing is stored; the result shows the wallet as it would be. Throws `NOT_FOUND`.
 */
export async function disableWallet(
  deps: DisableWalletDeps,
  input: { readonly walletId: string; readonly dryRun: boolean; readonly actor: string },
): Promise<{ readonly wallet: Wallet; readonly changed: boolean }> {
  const before = await deps.wallets.findWallet(input.walletId)
  if (before === null) throw new PaymeshError('NOT_FOUND', { message: 'Wallet not found.' })
  if (before.disabledAt !== null) return { wallet: before, changed: false }
  const disabledAt = deps.clock.now()
  if (input.dryRun) return { wallet: { ...before, disabledAt }, changed: true }
  const { id: subject, workspaceId, mode, family, kind } = before
  const audit = {
    ...{ id: deps.random.uuid(), at: disabledAt, actor: input.actor, action: 'wallet.disabled' as const, subject },
    ...{ workspaceId, mode, detail: { family, kind } },
  }
  const mails = mode === 'test' ? [] : await walletMails(deps, { wallet: before, audit, starts: null, first: null })
  const wallet = await deps.wallets.setDisabled(before.id, disabledAt, { audit, mails })
  if (wallet === null) throw new PaymeshError('NOT_FOUND', { message: 'Wallet not found.' })
  deps.logger.info({ walletId: wallet.id, workspaceId: wallet.workspaceId }, 'wallet disabled')
  return { wallet, changed: true }
}
