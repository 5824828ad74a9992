import { z } from 'zod'
import { ASSET_IDS, type NetworkId, REFUND_STATUSES } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { refundableAssets } from '#shared/domain/payment/refundable.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Refund } from '#shared/ports/refunds.ts'
import type { RefundLinks } from '#shared/usecases/refunds/refund-link.ts'

/** A refund record. Times are milliseconds. */
export const refundWire = z.object({
  id: z.string(),
  status: z.enum(REFUND_STATUSES),
  symbol: z.string(),
  amount: z.string(),
  /** The customer's link while it is active. */
  link: z.string().nullable(),
  expiresAt: z.number(),
  address: z.string().nullable(),
  txHash: z.string().nullable(),
  sentAt: z.number().nullable(),
  requestedBy: z.string(),
  sentBy: z.string().nullable(),
})

/** What may still be refunded of an invoice in one coin, in units of it. */
export const refundableWire = z.object({
  asset: z.enum(ASSET_IDS),
  symbol: z.string(),
  networkName: z.string(),
  decimals: z.number(),
  amount: z.string(),
})

/** The coins of which something may still be refunded; see `refundableAssets`. The output of the procedure leaves out the rest of them. */
export function refundableToWire(
  assets: ReturnType<typeof refundableAssets>,
  deps: { readonly catalog: Pick<Catalog, 'asset'>; networkName(network: NetworkId): string },
): z.infer<typeof refundableWire>[] {
  return assets.map(({ asset, amountBase }) => {
    const info = deps.catalog.asset(asset)
    return {
      ...info,
      asset,
      networkName: deps.networkName(info.network),
      amount: formatUnits(amountBase, info.decimals),
    }
  })
}

/** A refund as shown to the operators of its workspace; the output of the procedure leaves out the rest of its record. */
export function refundToWire(
  refund: Refund,
  deps: {
    readonly catalog: Pick<Catalog, 'asset'>
    readonly refundLinks: RefundLinks
    readonly urls: { readonly checkoutBaseUrl: string }
  },
): z.infer<typeof refundWire> {
  const { symbol, decimals } = deps.catalog.asset(refund.asset)
  const link = `${deps.urls.checkoutBaseUrl}/r/${deps.refundLinks.tokenOf(refund.id)}`
  return {
    ...refund,
    symbol,
    amount: formatUnits(refund.amountBase, decimals),
    link: refund.status === 'requested' ? link : null,
    requestedBy: personOf(refund.requestedBy),
    sentBy: refund.sentBy === null ? null : personOf(refund.sentBy),
  }
}

/** `user:<e-mail>` without its prefix. */
export const personOf = (actor: string): string => actor.replace(/^user:/, '')
