import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { shareOf } from '#shared/domain/invoice/quote-window.ts'
import { unpaidOf } from '#shared/domain/invoice/totals.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import type { InvoiceWorth } from '#shared/domain/payment/confirmation-tiers.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Invoice, OutboxNotice } from '#shared/ports/invoices.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type Decider, freshRate, type LargeSumDeps, largeSumMails } from '#shared/usecases/workspaces/large-sum.ts'
import type { WeighAcceptance } from './attach-payment.ts'

/**
 * The mail to every owner about an acceptance that is short by more than the workspace's threshold, to be stored with the acceptance; null
 * where `largeSumMails` makes none.
 */
export async function shortfallNotice(
  deps: LargeSumDeps & Uses<'clock'>,
  by: Decider,
  accepted: Parameters<WeighAcceptance>[0],
): Promise<OutboxNotice | null> {
  const { id, mode, number } = accepted.after.terms
  const worth = await missingAmount(deps, by.workspace, accepted)
  const missing = `${formatFiat(worth.fiat.minor, worth.fiat.currency)} ${worth.fiat.currency}`
  const { isStated } = accepted
  const detail = {
    invoice_number: number,
    missing,
    is_stated: isStated,
    ...(by.reason !== undefined && { reason: by.reason }),
  }
  const audit: AuditRecord = {
    ...{ id: '', at: deps.clock.now(), actor: by.actor, action: 'invoice.funds_accepted', subject: id },
    ...{ workspaceId: by.workspace.id, mode, detail },
  }
  const mails = await largeSumMails(deps, by, { worth, audit })
  const [first] = mails
  return first === undefined ? null : { to: mails.map(({ to }) => to), data: first.data }
}

/**
 * The amount missing on an invoice after funds were accepted for it, in the invoice's currency. `isStated`: an operator
 * stated the value, which proves nothing, so the whole amount counts as missing. Without a fresh rate `fiatPerUsd` is null.
 */
async function missingAmount(
  deps: Pick<LargeSumDeps, 'rates'>,
  workspace: Pick<Workspace, 'policy'>,
  { after, isStated }: { readonly after: Invoice; readonly isStated: boolean },
): Promise<InvoiceWorth> {
  const { minor, currency } = after.terms.fiat
  const paymentMethod = activePaymentMethod(after.state)
  // Rounded up: a shortfall is never shown, or checked, smaller than it is.
  const missingMinor =
    isStated || paymentMethod === null ? minor : shareOf(minor, unpaidOf(after.state, paymentMethod, 'settled'))
  const rate =
    paymentMethod === null ? null : await freshRate(deps, workspace, { asset: paymentMethod.asset, fiat: currency })
  return { fiat: { minor: missingMinor, currency }, fiatPerUsd: rate?.fiatPerUsd ?? null }
}
