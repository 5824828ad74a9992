import { invalidField, invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import type { Invoice, OutboxNotice } from '#shared/ports/invoices.ts'
import type { Payment } from '#shared/ports/payments.ts'
import { type ApplyDeps, type ApplyInput, applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { refusalError } from '#shared/usecases/invoices/refusal-error.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { addressOwners } from './address-owners.ts'

/** Dependencies of attaching a payment. */
export type AttachDeps = ApplyDeps & Uses<'payments' | 'exceptions' | 'wallets' | 'catalog'>

/** The payment, the invoice, and the operator. */
export interface AttachInput {
  readonly paymentId: string
  readonly invoiceId: string
  /** Its value in base units of the invoice's asset; null takes the payment's own amount, which needs the same asset. */
  readonly valueBase: bigint | null
  readonly dryRun: boolean
  readonly actor: string
  /** The operator's reason. */
  readonly reason?: string
  /** Called with the resulting invoice before anything is stored and again with the write; see {@link WeighAcceptance}. */
  readonly weigh?: WeighAcceptance
  /** Called after every check and just before anything is stored; what it throws ends the operation with nothing changed. */
  readonly beforeWrite?: () => Promise<void>
}

/**
 * Receives an invoice as it is after funds were accepted: throws when this person may not accept that, and returns the mails to
 * owners that are stored with it, or null. `isStated`: an operator stated the value of the funds.
 */
export type WeighAcceptance = (accepted: {
  readonly after: Invoice
  readonly isStated: boolean
}) => Promise<OutboxNotice | null>

/** The effect of an attachment, or of a dry run. */
export interface Attachment {
  readonly payment: Payment
  readonly valueBase: bigint
  readonly statusBefore: InvoiceStatus
  /** The invoice afterwards. */
  readonly invoice: Invoice
  /** False when the payment already counted for the invoice. */
  readonly changed: boolean
}

/**
 * Accepts a stored, confirmed payment as full settlement of an invoice, by an operator's decision, with an audit row in
 * the same write. Unmatched money is assigned to the invoice first; money sent to another invoice's address stays
 * that one's. Repeating it changes nothing, also after a crash at any line. Throws `NOT_FOUND`, `VALIDATION_ERROR` for a
 * missing or invalid value and `INVALID_STATE` for money that is unconfirmed or another invoice's, and for an invoice that
 * no longer accepts funds. For another workspace's money it throws the same `NOT_FOUND` as for unknown money.
 */
export async function attachPayment(deps: AttachDeps, input: AttachInput): Promise<Attachment> {
  const payment = await deps.payments.findById(input.paymentId)
  if (payment === null) throw noPayment()
  const invoice = await deps.invoices.findById(input.invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND', { message: 'Invoice not found.' })
  const owners = await checkOwner(deps, payment, invoice)
  const statusBefore = invoice.state.status
  const known = invoice.state.ledger.find((row) => row.payment === payment.key)
  if (known !== undefined && known.acceptedBase !== null) {
    // An earlier run may have crashed before this.
    if (!input.dryRun) await deps.exceptions.close(unmatchedIds(payment, owners), deps.clock.now())
    return { payment, valueBase: known.acceptedBase, statusBefore, invoice, changed: false }
  }
  checkConfirmed(payment)
  const valueBase = acceptedValue(deps, payment, invoice, input.valueBase)
  const event = {
    type: 'funds_accepted' as const,
    payments: [{ payment: payment.key, valueBase }],
    by: input.actor,
    ...(input.reason !== undefined && { reason: input.reason }),
  }
  const { weigh } = input
  const operation: ApplyInput = {
    ...{ invoiceId: invoice.terms.id, event, opId: `attach:${payment.id}` },
    ...(weigh !== undefined && { weigh: (after) => weigh({ after, isStated: statesValue(payment, after) }) }),
  }
  // Previewed first, so that money is not assigned to an invoice that then refuses it.
  const given = payment.invoiceId === null ? [asGiven(payment, invoice)] : []
  const preview = await applied(deps, { ...operation, preview: { payments: given } })
  const seen = { payment, valueBase, statusBefore }
  if (input.dryRun) return { ...seen, invoice: preview.invoice, changed: preview.changed }
  await input.beforeWrite?.()
  if (payment.invoiceId === null) await give(deps, payment, invoice)
  const done = await applied(deps, operation)
  await deps.exceptions.close(unmatchedIds(payment, owners), deps.clock.now())
  return { ...seen, invoice: done.invoice, changed: done.changed }
}

async function applied(deps: AttachDeps, input: ApplyInput): Promise<{ invoice: Invoice; changed: boolean }> {
  const result = await applyInvoiceEvent(deps, input)
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
  return { invoice: result.invoice, changed: result.outcome === 'changed' }
}

/** Throws unless the payment is the invoice's or can be assigned to it. Returns the workspaces whose address received it. */
async function checkOwner(deps: AttachDeps, payment: Payment, { terms }: Invoice): Promise<readonly string[]> {
  const owners = (await addressOwners(deps, [payment])).get(payment.matchKey) ?? []
  const isForeign =
    payment.workspaceId === null ? !owners.includes(terms.workspaceId) : payment.workspaceId !== terms.workspaceId
  if (isForeign && payment.invoiceId !== terms.id) throw noPayment()
  if (payment.mode !== terms.mode)
    throw invalidState(`The payment is in ${payment.mode} mode, but the invoice is in ${terms.mode} mode.`)
  if (payment.invoiceId !== null && payment.invoiceId !== terms.id) {
    throw invalidState(`The payment was sent to the address of invoice ${payment.invoiceId}. Apply it to that invoice.`)
  }
  return owners
}

const noPayment = (): PaymeshError => new PaymeshError('NOT_FOUND', { message: 'Payment not found.' })

function checkConfirmed({ state, block, requiredConfirmations, replacedBy }: Payment): void {
  if (state === 'confirmed') return
  if (state === 'detected') {
    const where = block === null ? 'It is not in a block yet' : `It is in block ${block.height}`
    throw invalidState(`The payment is not confirmed yet. ${where} and needs ${requiredConfirmations} confirmations.`)
  }
  throw invalidState(
    `The payment is ${state}${replacedBy === null ? '' : ` by ${replacedBy}`}: it is no longer on the blockchain.`,
  )
}

function acceptedValue(deps: AttachDeps, payment: Payment, invoice: Invoice, valueBase: bigint | null): bigint {
  const paymentMethod = activePaymentMethod(invoice.state)
  if (paymentMethod === null) throw invalidState('The invoice has no coin yet, so the payment cannot be valued.')
  if (payment.asset === paymentMethod.asset) {
    if (valueBase === null || valueBase === payment.amountBase) return payment.amountBase
    throw invalidField(
      'value',
      `the payment is in ${paymentMethod.asset}, so its own amount applies: ${payment.amountBase}`,
    )
  }
  const { decimals } = deps.catalog.asset(paymentMethod.asset)
  const what = payment.asset ?? `token ${payment.contract ?? 'unknown'}`
  if (valueBase === null) {
    throw invalidField(
      'value',
      `the payment is ${what}, but the invoice is in ${paymentMethod.asset}: enter its value in base units (${decimals} decimals)`,
    )
  }
  if (valueBase <= 0n) throw invalidField('value', 'must be above zero')
  return valueBase
}

const statesValue = (payment: Payment, { state }: Invoice): boolean =>
  payment.asset !== activePaymentMethod(state)?.asset

/** Compare-and-set on an unowned payment; if another caller was faster, repeating the command reports it. */
async function give(deps: AttachDeps, payment: Payment, { terms }: Invoice): Promise<void> {
  const owner = { invoiceId: terms.id, workspaceId: terms.workspaceId }
  if (await deps.payments.attribute(payment, owner, deps.clock.now())) return
  const now = await deps.payments.findById(payment.id)
  if (now?.invoiceId !== terms.id) throw invalidState('The payment has changed. Review it and try again.')
}

const asGiven = (payment: Payment, { terms }: Invoice): Payment => ({
  ...payment,
  invoiceId: terms.id,
  workspaceId: terms.workspaceId,
  version: payment.version + 1,
})

/** Ids of the exceptions that a scanner may have opened about an unmatched transfer. */
function unmatchedIds({ key }: Payment, owners: readonly string[]): readonly string[] {
  const unmatched = [...owners, 'operators'].map((owner) => `unmatched:${key}:${owner}`)
  return [...unmatched, `wrong_asset:${key}`, `wrong_network:${key}`]
}
