import { invalid } from '#shared/contracts/http/validate.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { divideUp, FIAT_EXPONENT, formatUnits, multiply, parseDecimal } from '#shared/domain/money/money.ts'

import type { InvoiceWorth } from '#shared/domain/payment/confirmation-tiers.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import type { Refund } from '#shared/ports/refunds.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type Decider, freshRate, type LargeSumDeps, largeSumMails } from '#shared/usecases/workspaces/large-sum.ts'

/** A refund that is about to be stored. */
export interface OpenedRefund {
  readonly invoice: Invoice
  /** The invoice's refunds that are not withdrawn, the new one included. */
  readonly refunds: readonly Pick<Refund, 'asset' | 'amountBase'>[]
  readonly audit: AuditRecord
}

/** Throws when this person may not open the refund; otherwise returns the mails to store with it. */
export type WeighRefund = (opened: OpenedRefund) => Promise<readonly MailRecord[]>

/** What telling owners about a refund needs. */
export type RefundNoticeDeps = LargeSumDeps & Uses<'catalog'>

/**
 * The mails to every owner about a refund by which the invoice's refunds together are worth more than the workspace's threshold at the
 * present price, so that several small ones are no way around it; none where `largeSumMails` makes none. Such a refund needs a reason: throws
 * `VALIDATION_ERROR` with path `reason` without one.
 */
export async function refundNotice(
  deps: RefundNoticeDeps,
  by: Decider,
  { invoice, refunds, audit }: OpenedRefund,
): Promise<readonly MailRecord[]> {
  const demand = () => {
    by.demand?.()
    if (by.reason === undefined || by.reason.length < 3) throw invalid([{ path: 'reason', message: 'enter a reason' }])
  }
  const worth = await worthOf(deps, by, { invoice, refunds })
  return await largeSumMails(deps, { ...by, demand }, { worth, audit })
}

/** In the invoice's currency, rounded up; null when an asset has no fresh rate. */
async function worthOf(
  deps: RefundNoticeDeps,
  { workspace }: Decider,
  { invoice, refunds }: Pick<OpenedRefund, 'invoice' | 'refunds'>,
): Promise<InvoiceWorth | null> {
  const { currency } = invoice.terms.fiat
  const sums = new Map<AssetId, bigint>()
  for (const { asset, amountBase } of refunds) sums.set(asset, (sums.get(asset) ?? 0n) + amountBase)
  let worth: InvoiceWorth = { fiat: { minor: 0n, currency }, fiatPerUsd: null }
  for (const [asset, base] of sums) {
    const rate = await freshRate(deps, workspace, { asset, fiat: currency })
    if (rate === null) return null
    const amount = parseDecimal(formatUnits(base, deps.catalog.asset(asset).decimals))
    const value = multiply(amount, parseDecimal(rate.fiatPerAsset))
    const { digits } = divideUp(value, { digits: 1n, scale: 0 }, FIAT_EXPONENT[currency])
    worth = { fiat: { minor: worth.fiat.minor + digits, currency }, fiatPerUsd: rate.fiatPerUsd }
  }
  return worth
}
