import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Ambient } from '#shared/ports/runtime.ts'
import type { Wallet, WalletRepository } from '#shared/ports/wallets.ts'

/** What ending new locks on a wallet needs. */
export interface DisableWalletDeps extends Pick<Ambient, 'clock' | 'random' | 'logger'> {
  readonly wallets: Pick<WalletRepository, 'findWallet' | 'setDisabled'>
}

/**
 * Ends new locks on a wallet, in every process within its five seconds of cache. Everything issued stays watched and is
 * credited as before; who did it is noted in the audit trail. Disabling a disabled wallet changes nothing. With `dryRun` nothing is stored; the answer shows
 * the wallet as it would be. Throws `NOT_FOUND`.
 */
export async function disableWallet(
  deps: DisableWalletDeps,
  input: { readonly walletId: string; readonly dryRun: boolean; readonly actor: string },
): Promise<{ readonly wallet: Wallet; readonly changed: boolean }> {
  const before = await deps.wallets.findWallet(input.walletId)
  if (before === null) throw new PaymeshError('NOT_FOUND', { message: 'There is no such wallet.' })
  if (before.disabledAt !== null) return { wallet: before, changed: false }
  const disabledAt = deps.clock.now()
  if (input.dryRun) return { wallet: { ...before, disabledAt }, changed: true }
  const wallet = await deps.wallets.setDisabled(before.id, disabledAt, {
    id: deps.random.uuid(),
    at: disabledAt,
    actor: input.actor,
    action: 'wallet.disabled',
    subject: before.id,
    workspaceId: before.workspaceId,
    mode: before.mode,
    detail: { family: before.family, kind: before.kind },
  })
  if (wallet === null) throw new PaymeshError('NOT_FOUND', { message: 'There is no such wallet.' })
  deps.logger.info({ walletId: wallet.id, workspaceId: wallet.workspaceId }, 'wallet disabled')
  return { wallet, changed: true }
}
