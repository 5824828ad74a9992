import type { Mode } from '#shared/domain/enumerations.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'
import { judgeShortfall } from '#shared/usecases/payments/check-shortfall.ts'
import { ownerNotices } from '#shared/usecases/workspaces/owner-notices.ts'
import { type AdminContext, demandStepUp } from './trpc.ts'

/**
 * Checks an acceptance with the write that carries it out: in live mode one that is short by more than the workspace's threshold throws unless
 * this session stepped up, and gets a mail to every owner, which is stored with the acceptance. Null for every other one.
 */
export function largeShortfall(
  ctx: Pick<AdminContext, 'session' | 'deps' | 'ip'> & { readonly workspace: Workspace; readonly actor: string },
  { mode, reason }: { readonly mode: Mode; readonly reason?: string | undefined },
): WeighAcceptance {
  return async ({ after, isStated }) => {
    if (mode === 'test') return null
    const { workspace, actor, deps, ip } = ctx
    const { missing, isLarge } = await judgeShortfall(deps.money, workspace, { after, isStated })
    if (!isLarge) return null
    demandStepUp(ctx)
    const about = { invoice_number: after.terms.number, missing, ...(reason !== undefined && { reason }) }
    const audit = {
      ...{ id: '', at: deps.clock.now(), actor, action: 'invoice.funds_accepted', subject: after.terms.id },
      ...{ workspaceId: workspace.id, mode, detail: about },
    }
    const mails = await ownerNotices(deps.instance, { audit, from: ip })
    return { to: mails.map(({ to }) => to), data: mails[0]?.data ?? {} }
  }
}
