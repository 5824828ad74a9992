/**
 * The closed sets of the interface specification (§2) that every layer shares.
 * Order matters: the first asset a workspace "can receive" follows the order of ASSET_IDS.
 */
import { NETWORKS, type NetworkId } from './networks.ts'

/** States of a workspace. Each one refuses everything that those before it refuse, and more. */
export const WORKSPACE_STATUSES = ['active', 'restricted', 'suspended'] as const
export type WorkspaceStatus = (typeof WORKSPACE_STATUSES)[number]

/** Whether something that works up to the status `worksWhile` works in a workspace of this status. */
export function worksIn(status: WorkspaceStatus, worksWhile: WorkspaceStatus): boolean {
  return WORKSPACE_STATUSES.indexOf(status) <= WORKSPACE_STATUSES.indexOf(worksWhile)
}

/** Every asset id, `<symbol>_<network>`, in the order of the specification. */
export const ASSET_IDS = [
  'btc_bitcoin',
  'ltc_litecoin',
  'doge_dogecoin',
  'eth_ethereum',
  'usdt_ethereum',
  'usdc_ethereum',
  'bnb_bsc',
  'usdt_bsc',
  'usdc_bsc',
  'pol_polygon',
  'usdt_polygon',
  'usdc_polygon',
  'eth_base',
  'usdc_base',
  'eth_arbitrum',
  'usdt_arbitrum',
  'usdc_arbitrum',
  'trx_tron',
  'usdt_tron',
  'sol_solana',
  'usdc_solana',
  'usdt_solana',
] as const
export type AssetId = (typeof ASSET_IDS)[number]

/** The networks of assets, in the order of the specification. */
export const NETWORK_IDS = Object.keys(NETWORKS) as readonly NetworkId[]
export type { NetworkId }

/** Address families: one derivation scheme and one address form each. A wallet belongs to one. */
export const FAMILIES = ['bitcoin', 'litecoin', 'dogecoin', 'evm', 'tron', 'solana'] as const
export type Family = (typeof FAMILIES)[number]

/** Live moves real money; test never does. The two share nothing. */
export const MODES = ['live', 'test'] as const
export type Mode = (typeof MODES)[number]

/** Every network in each mode, live first, in the order of the specification. */
export const EVERY_NETWORK = MODES.flatMap((mode) => NETWORK_IDS.map((network) => ({ mode, network })))

/** The ten fiat currencies of `GET /rates` (ISO 4217). */
export const FIAT_CODES = ['USD', 'EUR', 'DOP', 'MXN', 'COP', 'BRL', 'GBP', 'ARS', 'CLP', 'PEN'] as const
export type FiatCode = (typeof FIAT_CODES)[number]

/** The eight invoice states of the specification (§3). */
export const INVOICE_STATUSES = [
  'new',
  'pending',
  'partial',
  'confirming',
  'paid',
  'overpaid',
  'expired',
  'cancelled',
] as const
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number]

/** A payment is live while `detected` or `confirmed`; the other three no longer count. */
export const PAYMENT_STATES = ['detected', 'confirmed', 'replaced', 'dropped', 'orphaned'] as const
export type PaymentState = (typeof PAYMENT_STATES)[number]

/** `requested`: a link was created for the customer. `addressed`: the customer entered an address. `sent`: an operator recorded the transaction. */
export const REFUND_STATUSES = ['requested', 'addressed', 'sent', 'withdrawn'] as const
export type RefundStatus = (typeof REFUND_STATUSES)[number]

/** Public event types of the specification (§6). */
export const EVENT_TYPES = [
  'invoice.created',
  'invoice.pending',
  'invoice.partial',
  'invoice.confirming',
  'invoice.paid',
  'invoice.overpaid',
  'invoice.expired',
  'invoice.late_payment',
  'invoice.cancelled',
  'payment.detected',
  'payment.confirmed',
  'webhook.test',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Kinds of exceptions about money. */
export const MONEY_EXCEPTION_KINDS = [
  'late',
  'partial',
  'over',
  'wrong_asset',
  'wrong_network',
  'unmatched',
  'cancelled_paid',
  'reorged',
  'stuck',
  'many_payments',
  'out_of_quote',
  'unexplained_balance',
  'refund_uncovered',
] as const

/** All kinds of exceptions: those about money come before those about the system. */
export const EXCEPTION_KINDS = [
  ...MONEY_EXCEPTION_KINDS,
  'halted_chain',
  'failing_endpoint',
  'outbox_blocked',
  'invoice_blocked',
  'addresses_low',
  'visitors_limited',
] as const
export type ExceptionKind = (typeof EXCEPTION_KINDS)[number]

/** Whether an exception is about money rather than about the system. */
export function isMoneyException(kind: ExceptionKind): boolean {
  return (MONEY_EXCEPTION_KINDS as readonly ExceptionKind[]).includes(kind)
}

/** Scopes of an API key (specification §5). */
export const SCOPES = [
  'invoices:read',
  'invoices:write',
  'links:read',
  'links:write',
  'products:read',
  'products:write',
  'payments:read',
  'rates:read',
  'webhooks:manage',
] as const
export type Scope = (typeof SCOPES)[number]

/** The part of an asset id behind the underscore. */
export function networkOf(asset: AssetId): NetworkId {
  return asset.slice(asset.indexOf('_') + 1) as NetworkId
}

/** The ticker symbol an asset is priced by, in capitals: `usdt_bsc` → `USDT`. */
export function symbolOf(asset: AssetId): string {
  return asset.slice(0, asset.indexOf('_')).toUpperCase()
}
