import type { Workspace } from '#shared/ports/workspaces.ts'
import type { WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'
import { shortfallNotice } from '#shared/usecases/payments/shortfall-notice.ts'
import { type AdminContext, demandStepUp } from './trpc.ts'

/**
 * Checks an acceptance with the write that stores it: in live mode an acceptance short by more than the workspace's threshold throws unless
 * this session stepped up, and gets a mail to every owner, which is stored with the acceptance. Null for all others.
 */
export function largeShortfall(
  ctx: Pick<AdminContext, 'session' | 'deps' | 'ip'> & { readonly workspace: Workspace; readonly actor: string },
  { reason }: { readonly reason?: string | undefined },
): WeighAcceptance {
  const { workspace, actor, deps, ip } = ctx
  const { workspaces, ownersOf } = deps.instance
  const parts = { rates: deps.money.rates, clock: deps.clock, workspaces, ownersOf }
  return (accepted) => shortfallNotice(parts, { workspace, actor, from: ip, reason }, accepted, () => demandStepUp(ctx))
}
