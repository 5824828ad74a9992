import type { AuditRecord } from '#shared/ports/audit.ts'
import type { OutboxNotice } from '#shared/ports/invoices.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { RateReader } from '#shared/usecases/rates/read-rate.ts'
import { type OwnerNoticeDeps, ownerNotices } from '#shared/usecases/workspaces/owner-notices.ts'
import type { WeighAcceptance } from './attach-payment.ts'
import { classifyShortfall } from './check-shortfall.ts'

/** What telling owners about a shortfall needs. */
export interface ShortfallNoticeDeps extends OwnerNoticeDeps {
  readonly rates: Pick<RateReader, 'rateFor'>
  readonly clock: Clock
}

/** Who accepts less than was due. */
export interface ShortfallRequest {
  readonly workspace: Pick<Workspace, 'id' | 'policy'>
  readonly actor: string
  /** Address that the request came from, or the place. */
  readonly from: string
  /** Why, in that person's words. */
  readonly reason?: string | undefined
}

/**
 * The mail to every owner about an acceptance that is short by more than the workspace's threshold, to be stored with the acceptance; null
 * in test mode and for every smaller shortfall. `demand` runs before a mail is made, and throws when this person may not accept so much.
 */
export async function shortfallNotice(
  deps: ShortfallNoticeDeps,
  { workspace, actor, from, reason }: ShortfallRequest,
  accepted: Parameters<WeighAcceptance>[0],
  demand: () => void = () => undefined,
): Promise<OutboxNotice | null> {
  const { id, mode, number } = accepted.after.terms
  if (mode === 'test') return null
  const { missing, isLarge } = await classifyShortfall(deps, workspace, accepted)
  if (!isLarge) return null
  demand()
  const detail = { invoice_number: number, missing, ...(reason !== undefined && { reason }) }
  const audit: AuditRecord = {
    ...{ id: '', at: deps.clock.now(), actor, action: 'invoice.funds_accepted', subject: id },
    ...{ workspaceId: workspace.id, mode, detail },
  }
  const mails = await ownerNotices(deps, { audit, from })
  return { to: mails.map(({ to }) => to), data: mails[0]?.data ?? {} }
}
