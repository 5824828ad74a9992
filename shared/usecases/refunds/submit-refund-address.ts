import type { MerchantView } from '#shared/contracts/checkout/invoice-view.ts'
import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { NetworkId, RefundStatus } from '#shared/domain/enumerations.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import type { AddressReader, Refund } from '#shared/ports/refunds.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { viewMerchant } from '#shared/usecases/workspaces/view-merchant.ts'
import { refundTokenHash } from './refund-link.ts'

/** Dependencies of the customer's side of a refund. */
export type RefundRequestDeps = Uses<'clock' | 'refunds' | 'invoices' | 'workspaces' | 'catalog'> & {
  readonly payees: AddressReader
}

/** Everything that the customer with the link may see: merchant, amount, network, and the address submitted. */
export interface RefundRequest {
  readonly merchant: string
  /** The merchant with contact, logo and colour. */
  readonly shop: MerchantView
  readonly livemode: boolean
  readonly invoiceNumber: number
  readonly asset: string
  readonly symbol: string
  readonly network: NetworkId
  readonly amount: string
  readonly status: RefundStatus
  /** The address that the customer submitted. */
  readonly address: string | null
  readonly txHash: string | null
  /** ISO 8601, UTC. */
  readonly expiresAt: string
}

/** The request behind a link and its progress. Throws `NOT_FOUND` alike for an unknown, withdrawn or expired link. */
export async function readRefundRequest(deps: RefundRequestDeps, token: string): Promise<RefundRequest> {
  return await present(deps, await find(deps, token))
}

/**
 * Stores the address that the customer submits, once: repeating it changes nothing. Throws `NOT_FOUND`, `VALIDATION_ERROR` with
 * path `address` for an invalid address of the network, and `INVALID_STATE` when another one was submitted before, which only the
 * merchant can undo.
 */
export async function submitRefundAddress(
  deps: RefundRequestDeps,
  token: string,
  input: { readonly address: string },
): Promise<RefundRequest> {
  const refund = await find(deps, token)
  const { address } = deps.payees.read(refund.network, refund.mode, input.address)
  if (refund.status === 'requested') await give(deps, refund, address)
  const now = await find(deps, token)
  if (now.address !== address) {
    throw invalidState('Another address was already submitted. Contact the merchant if it is wrong.')
  }
  return await present(deps, now)
}

async function give(deps: RefundRequestDeps, refund: Refund, address: string): Promise<void> {
  const at = deps.clock.now()
  await deps.refunds.giveAddress(refund.id, address, at, {
    id: `refund-address:${refund.id}`,
    at,
    actor: 'customer',
    action: 'refund.address_given',
    subject: refund.invoiceId,
    workspaceId: refund.workspaceId,
    mode: refund.mode,
    detail: { refund: refund.id, address, network: refund.network },
  })
}

async function find(deps: RefundRequestDeps, token: string): Promise<Refund> {
  const hash = refundTokenHash(token)
  const refund = hash === null ? null : await deps.refunds.findByTokenHash(hash)
  const open = refund !== null && refund.status !== 'withdrawn' && deps.clock.now() < refund.expiresAt
  if (!open) throw new PaymeshError('NOT_FOUND', { message: 'This link is no longer valid.' })
  return refund
}

async function present(deps: RefundRequestDeps, refund: Refund): Promise<RefundRequest> {
  const [invoice, workspace] = await Promise.all([
    deps.invoices.findById(refund.invoiceId),
    deps.workspaces.findById(refund.workspaceId),
  ])
  if (invoice === null || workspace === null) throw new PaymeshError('NOT_FOUND')
  const { symbol, decimals } = deps.catalog.asset(refund.asset)
  return {
    merchant: workspace.name,
    shop: viewMerchant(workspace),
    livemode: refund.mode === 'live',
    invoiceNumber: invoice.terms.number,
    asset: refund.asset,
    symbol,
    network: refund.network,
    amount: formatUnits(refund.amountBase, decimals),
    status: refund.status,
    address: refund.address,
    txHash: refund.txHash,
    expiresAt: new Date(refund.expiresAt).toISOString(),
  }
}
