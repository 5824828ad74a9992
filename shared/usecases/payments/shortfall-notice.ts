import { formatFiat } from '#shared/domain/money/fiat.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { OutboxNotice } from '#shared/ports/invoices.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type Decider, type LargeSumDeps, largeSumMails } from '#shared/usecases/workspaces/large-sum.ts'
import type { WeighAcceptance } from './attach-payment.ts'
import { missingAmount } from './missing-amount.ts'

/** What telling owners about a shortfall needs. */
export type ShortfallNoticeDeps = LargeSumDeps & Uses<'clock'>

/**
 * The mail to every owner about an acceptance that is short by more than the workspace's threshold, to be stored with the acceptance; null
 * where `largeSumMails` makes none.
 */
export async function shortfallNotice(
  deps: ShortfallNoticeDeps,
  by: Decider,
  accepted: Parameters<WeighAcceptance>[0],
): Promise<OutboxNotice | null> {
  const { id, mode, number } = accepted.after.terms
  const worth = await missingAmount(deps, by.workspace, accepted)
  const missing = `${formatFiat(worth.fiat.minor, worth.fiat.currency)} ${worth.fiat.currency}`
  const detail = { invoice_number: number, missing, ...(by.reason !== undefined && { reason: by.reason }) }
  const audit: AuditRecord = {
    ...{ id: '', at: deps.clock.now(), actor: by.actor, action: 'invoice.funds_accepted', subject: id },
    ...{ workspaceId: by.workspace.id, mode, detail },
  }
  const mails = await largeSumMails(deps, by, { worth, audit })
  const [first] = mails
  return first === undefined ? null : { to: mails.map(({ to }) => to), data: first.data }
}
