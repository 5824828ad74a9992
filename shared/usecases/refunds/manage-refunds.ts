import { invalidField, invalidState, PaymeshError, wrongEntry } from '#shared/contracts/errors.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import { formatUnits, parseUnits } from '#shared/domain/money/money.ts'
import { refundableBase } from '#shared/domain/payment/refundable.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { AssetInfo } from '#shared/ports/chain-catalog.ts'
import type { AddressReader, Refund } from '#shared/ports/refunds.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import { type AdvanceDeps, advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { marketAt } from '#shared/usecases/invoices/fold-payments.ts'
import { transactionId } from '#shared/usecases/networks/transaction-id.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { REFUND_LINK_LIFE_MS, type RefundLinks, refundTokenHash } from './refund-link.ts'
import type { WeighRefund } from './refund-notice.ts'

/** Dependencies of the operators' side of refunds. */
export type ManageRefundsDeps = AdvanceDeps &
  Uses<'refunds' | 'invoices'> & {
    readonly refundLinks: RefundLinks
    readonly payees: AddressReader
  }

/**
 * Records that money of an invoice is to be refunded, to an address that the operator gives; without one it makes the link where the customer enters
 * theirs. The operation's id is the
 * refund's, so a repetition finds it, with the same link. Refunds that are not withdrawn never exceed the invoice's confirmed payments in
 * their asset, counted or not, however many are opened at once. Throws `NOT_FOUND`, `VALIDATION_ERROR` with path `amount` or `address`,
 * `INVALID_STATE` for more than is left, and whatever `weigh` throws.
 */
export async function openRefundRequest(deps: ManageRefundsDeps, input: RefundRequest): Promise<Refund> {
  const opened = await storeRequest(deps, input)
  // What it claims no longer pays the invoice. The same action can be sent again after a crash.
  await advanceInvoice(deps, opened.invoiceId)
  return opened
}

type RefundRequest = WorkspaceAction & {
  readonly invoiceId: string
  readonly asset: AssetId | null
  readonly amount: string
  readonly address?: string | null
  readonly weigh: WeighRefund
}

async function storeRequest(deps: ManageRefundsDeps, input: RefundRequest): Promise<Refund> {
  const { workspaceId, mode, opId, actor, reason } = input
  const earlier = await deps.refunds.findInWorkspace(workspaceId, mode, opId)
  if (earlier !== null) return earlier
  const invoice = await deps.invoices.findInWorkspace(workspaceId, mode, input.invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  const asset = input.asset ?? activePaymentMethod(invoice.state)?.asset
  if (asset === undefined) throw nothingLeft()
  const { network, decimals, symbol } = deps.catalog.asset(asset)
  const at = deps.clock.now()
  const given = input.address ?? null
  const address = given === null ? null : deps.payees.read(network, mode, given).address
  const refund: Refund = {
    id: opId,
    workspaceId,
    mode,
    invoiceId: invoice.terms.id,
    asset,
    network,
    amountBase: amountOf(input.amount, decimals),
    status: address === null ? 'requested' : 'addressed',
    tokenHash: refundTokenHash(deps.refundLinks.tokenOf(opId)) ?? '',
    expiresAt: at + REFUND_LINK_LIFE_MS,
    address,
    addressedAt: address === null ? null : at,
    txHash: null,
    sentAt: null,
    market: null,
    requestedBy: actor,
    sentBy: null,
    createdAt: at,
  }
  const about = { invoice_number: invoice.terms.number, refund: refund.id, asset, symbol, amount: input.amount }
  const detail = { ...about, ...(address !== null && { address }), reason }
  const made = auditOf({ ...input, at, action: 'refund.requested', invoiceId: refund.invoiceId, detail })
  const audit = { ...made, id: `refund-requested:${opId}` }
  const stored = await deps.refunds.open(refund, audit, async ({ payments, refunds }) => {
    requireLeft(refund, refundableBase(asset, payments, refunds), deps.catalog.asset(asset))
    const open = refunds.filter(({ status }) => status !== 'withdrawn')
    return await input.weigh({ invoice, refunds: [...open, refund], audit })
  })
  if (stored.workspaceId !== workspaceId) throw new PaymeshError('NOT_FOUND')
  return stored
}

/**
 * Records the transaction by which a refund was sent, with the market's price of that moment: only the form of its id is checked, and that it
 * paid no invoice of the workspace. Repeating it changes nothing. Throws `NOT_FOUND`, `VALIDATION_ERROR` with path `txid`, and `INVALID_STATE` when
 * another one was recorded before.
 */
export async function recordRefund(
  deps: ManageRefundsDeps,
  input: WorkspaceAction & { readonly refundId: string; readonly txHash: string },
): Promise<Refund> {
  const refund = await find(deps, input)
  const txHash = transactionId(deps.catalog.asset(refund.asset).family, input.txHash)
  if (refund.txHash !== txHash) await requireOutgoing(deps, refund, txHash)
  const at = deps.clock.now()
  const detail = { refund: refund.id, transaction: txHash, address: refund.address, reason: input.reason }
  const audit = auditOf({ ...input, at, action: 'refund.sent', invoiceId: refund.invoiceId, detail })
  const invoice = await deps.invoices.findById(refund.invoiceId)
  const market = invoice === null ? null : await marketAt(deps, invoice, refund.asset, at)
  const auditWrite = await deps.refunds.noteSent(refund.id, { txHash, at, by: input.actor, market }, audit)
  const now = await find(deps, input)
  if (!auditWrite && now.txHash !== txHash) throw ended(now)
  // The invoice's exceptions about money that went back close. The same action can be sent again after a crash.
  await advanceInvoice(deps, now.invoiceId)
  return now
}

/** Refuses what the shop received, unless it came to the refund's address: customers may have a refund sent to another invoice. Others' payments stay unnamed. */
async function requireOutgoing(deps: ManageRefundsDeps, refund: Refund, txHash: string): Promise<void> {
  const { mode, network, address, workspaceId } = refund
  const found = await deps.payments.listByTransaction(mode, network, txHash)
  const to = address === null ? null : deps.payees.read(network, mode, address).matchKey
  const isReceived = found.some((one) => one.workspaceId === workspaceId && one.invoiceId !== null)
  if (isReceived && !found.some(({ matchKey }) => matchKey === to))
    throw wrongEntry(
      'txid',
      'This transaction paid one of your invoices. Enter the transaction by which you sent the refund.',
    )
}

/** Withdraws a refund that was not sent: its link stops working. Repeating it changes nothing. Throws `NOT_FOUND` and `INVALID_STATE`. */
export async function withdrawRefund(
  deps: ManageRefundsDeps,
  input: WorkspaceAction & { readonly refundId: string },
): Promise<Refund> {
  const refund = await find(deps, input)
  const detail = { refund: refund.id, reason: input.reason }
  const at = deps.clock.now()
  const audit = auditOf({ ...input, at, action: 'refund.withdrawn', invoiceId: refund.invoiceId, detail })
  await deps.refunds.withdraw(refund.id, audit)
  const now = await find(deps, input)
  if (now.status !== 'withdrawn') throw ended(now)
  // The invoice's exception about refunds that are not covered may close. The same action can be sent again after a crash.
  await advanceInvoice(deps, now.invoiceId)
  return now
}

function ended({ status, sentBy, sentAt }: Refund): PaymeshError {
  const when = sentAt === null ? '' : ` at ${new Date(sentAt).toISOString()}`
  const message =
    status === 'sent'
      ? `${sentBy ?? 'Someone'} recorded another transaction${when}. No changes were made.`
      : 'This refund was withdrawn.'
  return invalidState(message)
}

async function find(deps: ManageRefundsDeps, input: WorkspaceAction & { readonly refundId: string }): Promise<Refund> {
  const refund = await deps.refunds.findInWorkspace(input.workspaceId, input.mode, input.refundId)
  if (refund === null) throw new PaymeshError('NOT_FOUND')
  return refund
}

/** The rule; what the page shows comes from the same sum. */
function requireLeft({ amountBase }: Refund, leftBase: bigint, { symbol, decimals }: AssetInfo): void {
  if (amountBase <= leftBase) return
  if (leftBase <= 0n) throw nothingLeft()
  throw invalidState(
    `At most ${formatUnits(leftBase, decimals)} ${symbol} can still be refunded: the confirmed payments, less earlier refunds.`,
  )
}

const nothingLeft = (): PaymeshError => invalidState('There is nothing to refund on this invoice in this coin.')

function amountOf(amount: string, decimals: number): bigint {
  let amountBase = 0n
  try {
    amountBase = parseUnits(amount, decimals)
  } catch {
    // Reported below.
  }
  if (amountBase > 0n) return amountBase
  const message = `must be a number above zero with at most ${decimals} decimals`
  throw invalidField('amount', message)
}

function auditOf(
  input: WorkspaceAction & {
    readonly at: number
    readonly action: AuditAction
    readonly invoiceId: string
    readonly detail: AuditRecord['detail']
  },
): AuditRecord {
  const { at, actor, action, invoiceId, workspaceId, mode, detail, opId } = input
  return { id: `${action}:${opId}`, at, actor, action, subject: invoiceId, workspaceId, mode, detail }
}
