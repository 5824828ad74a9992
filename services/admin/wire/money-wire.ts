import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import {
  ASSET_IDS,
  FIAT_CODES,
  INVOICE_STATUSES,
  type Mode,
  NETWORK_IDS,
  type NetworkId,
  PAYMENT_STATES,
} from '#shared/domain/enumerations.ts'
import { activePaymentMethod, type PaymentMethod } from '#shared/domain/invoice/model.ts'
import { isLive, requestedBase, totals } from '#shared/domain/invoice/totals.ts'
import { formatFiat, formatUnits } from '#shared/domain/money/money.ts'

import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { LIST_ORDERS } from '#shared/ports/list-order.ts'
import type { Payment } from '#shared/ports/payments.ts'

/** Sources of invoices. */
export const SOURCES = ['link', 'api', 'manual', 'billing'] as const

/** The order of a list by time. */
export const orderInput = { order: z.enum(LIST_ORDERS).default('newest') }

/** A page of a list. */
export const pageInput = { cursor: boundedText(200).optional(), limit: z.int().min(1).max(100).default(50) }

/** Amounts due and received on an invoice, in units of its asset. */
const amountsWire = z.object({
  asset: z.enum(ASSET_IDS),
  symbol: z.string(),
  network: z.enum(NETWORK_IDS),
  networkName: z.string(),
  decimals: z.number(),
  due: z.string(),
  received: z.string(),
  seen: z.string(),
  confirmed: z.string(),
  left: z.string(),
  dueBase: z.string(),
  seenBase: z.string(),
  confirmedBase: z.string(),
})

/** An invoice in a list. Times are milliseconds. */
export const invoiceRowWire = z.object({
  id: z.string(),
  number: z.number(),
  status: z.enum(INVOICE_STATUSES),
  flags: z.array(z.enum(['paid_late', 'underpaid_accepted', 'simulated'])),
  amount: z.object({ value: z.string(), currency: z.enum(FIAT_CODES) }),
  coins: amountsWire.nullable(),
  orderId: z.string().nullable(),
  customer: z.object({ email: z.string().nullable(), name: z.string().nullable() }),
  source: z.enum(SOURCES),
  createdAt: z.number(),
  expiresAt: z.number(),
  openExceptions: z.number(),
})
export type InvoiceRowWire = z.infer<typeof invoiceRowWire>

type Names = { readonly networkName: (network: NetworkId) => string }

/** An invoice in lists; the output of the procedure leaves out the rest of its terms. */
export function invoiceRowToWire({ terms, state }: Invoice, names: Names): InvoiceRowWire {
  const { minor, currency } = terms.fiat
  return {
    ...terms,
    status: state.status,
    flags: [
      ...(state.paidLate ? (['paid_late'] as const) : []),
      ...(state.underpaidAccepted ? (['underpaid_accepted'] as const) : []),
      ...(state.ledger.some((row) => row.simulated) ? (['simulated'] as const) : []),
    ],
    amount: { value: formatFiat(minor, currency), currency },
    coins: coinsToWire({ terms, state }, activePaymentMethod(state), names),
    expiresAt: state.expiresAt,
    openExceptions: state.exceptions.length,
  }
}

function coinsToWire(
  { state }: Pick<Invoice, 'terms' | 'state'>,
  paymentMethod: PaymentMethod | null,
  { networkName }: Names,
): z.infer<typeof amountsWire> | null {
  if (paymentMethod === null) return null
  const { dueBase, receivedBase, seenBase, settledBase } = totals(state)
  const leftBase = requestedBase(state, state.updatedAt)
  const units = (base: bigint) => formatUnits(base, paymentMethod.decimals)
  return {
    ...paymentMethod,
    networkName: networkName(paymentMethod.network),
    due: units(dueBase),
    received: units(receivedBase),
    seen: units(seenBase),
    confirmed: units(settledBase),
    left: units(leftBase > 0n || dueBase < seenBase ? leftBase : dueBase - seenBase),
    dueBase: dueBase.toString(),
    seenBase: seenBase.toString(),
    confirmedBase: settledBase.toString(),
  }
}

/** A payment in a list. */
export const paymentWire = z.object({
  id: z.string(),
  invoiceId: z.string().nullable(),
  network: z.enum(NETWORK_IDS),
  networkName: z.string(),
  asset: z.enum(ASSET_IDS).nullable(),
  symbol: z.string().nullable(),
  /** Units of the asset; base units for a token without a known one. */
  amount: z.string(),
  amountBase: z.string(),
  state: z.enum(PAYMENT_STATES),
  counted: z.boolean(),
  uncountedReason: z.string().nullable(),
  late: z.boolean(),
  simulated: z.boolean(),
  txHash: z.string().nullable(),
  explorerUrl: z.string().nullable(),
  fromAddress: z.string().nullable(),
  toAddress: z.string(),
  blockHeight: z.number().nullable(),
  blockTime: z.number().nullable(),
  requiredConfirmations: z.number(),
  firstSeenAt: z.number(),
  confirmedAt: z.number().nullable(),
})
export type PaymentWire = z.infer<typeof paymentWire>

/** A payment in lists; the output of the procedure leaves out the rest of its record. */
export function paymentToWire(
  payment: Payment,
  names: Names & { readonly catalog: Pick<Catalog, 'asset' | 'explorerTxUrl'> },
): PaymentWire {
  const { asset, network, amountBase, txHash, block } = payment
  const info = asset === null ? null : names.catalog.asset(asset)
  const mode: Mode = payment.mode
  return {
    ...payment,
    networkName: names.networkName(network),
    symbol: info?.symbol ?? null,
    amount: info === null ? amountBase.toString() : formatUnits(amountBase, info.decimals),
    amountBase: amountBase.toString(),
    counted: payment.counted && isLive(payment),
    simulated: payment.kind === 'simulated',
    explorerUrl: txHash === null ? null : names.catalog.explorerTxUrl(network, mode, txHash),
    blockHeight: block?.height ?? null,
    blockTime: block?.time ?? null,
  }
}
