import { PaymeshError } from '#shared/contracts/errors.ts'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import { activeLock } from '#shared/domain/invoice/model.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { ExceptionRepository } from '#shared/ports/exceptions.ts'
import type { Invoice, OutboxNotice } from '#shared/ports/invoices.ts'
import type { Payment, PaymentRepository } from '#shared/ports/payments.ts'
import { type ApplyDeps, type ApplyInput, applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { refusalError } from '#shared/usecases/invoices/refusal-error.ts'
import { type AddressOwnerDeps, addressOwners } from './address-owners.ts'

/** What attaching needs. */
export interface AttachDeps extends ApplyDeps {
  readonly payments: ApplyDeps['payments'] & Pick<PaymentRepository, 'findById' | 'attribute'>
  readonly exceptions: Pick<ExceptionRepository, 'close'>
  readonly wallets: AddressOwnerDeps['wallets']
  readonly catalog: ApplyDeps['catalog'] & Pick<Catalog, 'asset'>
}

/** Which payment settles which invoice, by whose word. */
export interface AttachInput {
  readonly paymentId: string
  readonly invoiceId: string
  /** Its value in base units of the invoice's asset; null takes the payment's own amount, which needs the same asset. */
  readonly valueBase: bigint | null
  readonly dryRun: boolean
  readonly actor: string
  /** By hand on the machine: refusals may say that another workspace has the money. Absent = it is as if it did not exist. */
  readonly isByHand?: true
  /** Why, in that person's words. */
  readonly reason?: string
  /** Asked about what the invoice becomes, before anything is stored and again with the write; see {@link WeighAcceptance}. */
  readonly weigh?: WeighAcceptance
}

/**
 * Looks at an invoice as it is after funds were accepted: throws when this person may not accept that, and returns the mails to
 * owners that are stored with it, or null. `isStated`: a person stated the value of the funds.
 */
export type WeighAcceptance = (accepted: {
  readonly after: Invoice
  readonly isStated: boolean
}) => Promise<OutboxNotice | null>

/** What an attachment did, or would do in a dry run. */
export interface Attachment {
  readonly payment: Payment
  readonly valueBase: bigint
  readonly statusBefore: InvoiceStatus
  /** The invoice afterwards. */
  readonly invoice: Invoice
  /** False when the payment counted for the invoice already. */
  readonly changed: boolean
}

/**
 * Takes a stored, confirmed payment as full settlement of an invoice, by an operator's word, and notes it in the audit trail with
 * the same write. Money that nobody holds is given to the invoice first; money that came to another invoice's address stays
 * that one's. Repeating it changes nothing, also after a crash at any line. Throws `NOT_FOUND`, `VALIDATION_ERROR` for a
 * missing or senseless value and `INVALID_STATE` for money that is not confirmed or another invoice's, and for an invoice that
 * takes no funds any more. Another workspace's money is `NOT_FOUND` in the words for money that does not exist.
 */
export async function attachPayment(deps: AttachDeps, input: AttachInput): Promise<Attachment> {
  const payment = await deps.payments.findById(input.paymentId)
  if (payment === null) throw noPayment()
  const invoice = await deps.invoices.findById(input.invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND', { message: 'There is no such invoice.' })
  const owners = await checkOwner(deps, payment, invoice, input.isByHand === true)
  const statusBefore = invoice.state.status
  const known = invoice.state.ledger.find((row) => row.payment === payment.key)
  if (known !== undefined && known.acceptedBase !== null) {
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
  // Asked first, so that money is not given to an invoice that then refuses it.
  const given = payment.invoiceId === null ? [asGiven(payment, invoice)] : []
  const preview = await applied(deps, { ...operation, preview: { payments: given } })
  const seen = { payment, valueBase, statusBefore }
  if (input.dryRun) return { ...seen, invoice: preview.invoice, changed: preview.changed }
  if (payment.invoiceId === null) await give(deps, payment, invoice)
  const done = await applied(deps, operation)
  await deps.exceptions.close(strayIds(payment, owners), deps.clock.now())
  return { ...seen, invoice: done.invoice, changed: done.changed }
}

async function applied(deps: AttachDeps, input: ApplyInput): Promise<{ invoice: Invoice; changed: boolean }> {
  const result = await applyInvoiceEvent(deps, input)
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
  return { invoice: result.invoice, changed: result.outcome === 'changed' }
}

/** Throws unless the payment is the invoice's or may become it. Returns the workspaces whose address received it. */
async function checkOwner(
  deps: AttachDeps,
  payment: Payment,
  { terms }: Invoice,
  isByHand: boolean,
): Promise<readonly string[]> {
  const owners = (await addressOwners(deps, [payment])).get(payment.matchKey) ?? []
  const isForeign =
    payment.workspaceId === null ? !owners.includes(terms.workspaceId) : payment.workspaceId !== terms.workspaceId
  if (isForeign && payment.invoiceId !== terms.id) {
    if (!isByHand) throw noPayment()
    throw refused('The payment belongs to another workspace: no wallet of this one has its address.')
  }
  if (payment.mode !== terms.mode)
    throw refused(`The payment is of ${payment.mode} mode, the invoice of ${terms.mode}.`)
  if (payment.invoiceId !== null && payment.invoiceId !== terms.id) {
    throw refused(`The payment came to the address of invoice ${payment.invoiceId}: attach it to that one.`)
  }
  return owners
}

const noPayment = (): PaymeshError => new PaymeshError('NOT_FOUND', { message: 'There is no such payment.' })

function checkConfirmed({ state, block, requiredConfirmations, replacedBy }: Payment): void {
  if (state === 'confirmed') return
  if (state === 'detected') {
    const where = block === null ? 'It is in no block yet' : `It is in block ${block.height}`
    throw refused(`The payment is not confirmed yet. ${where} and needs ${requiredConfirmations} confirmations.`)
  }
  throw refused(`The payment is ${state}${replacedBy === null ? '' : ` by ${replacedBy}`}: it is not on its chain.`)
}

function acceptedValue(deps: AttachDeps, payment: Payment, invoice: Invoice, asked: bigint | null): bigint {
  const lock = activeLock(invoice.state)
  if (lock === null) throw refused('The invoice has no asset yet, so nothing can be valued in it.')
  if (payment.asset === lock.asset) {
    if (asked === null || asked === payment.amountBase) return payment.amountBase
    throw invalid(`the payment is in ${lock.asset} and counts with its own amount, ${payment.amountBase}`)
  }
  const { decimals } = deps.catalog.asset(lock.asset)
  const what = payment.asset ?? `token ${payment.contract ?? 'unknown'}`
  if (asked === null) {
    throw invalid(
      `the payment is ${what}, the invoice asks for ${lock.asset}: say its value in base units (${decimals} decimals)`,
    )
  }
  if (asked <= 0n) throw invalid('must be above zero')
  return asked
}

const statesValue = (payment: Payment, { state }: Invoice): boolean => payment.asset !== activeLock(state)?.asset

/** Compare-and-set on "nobody's"; when somebody was faster, repeating the command says who. */
async function give(deps: AttachDeps, payment: Payment, { terms }: Invoice): Promise<void> {
  const owner = { invoiceId: terms.id, workspaceId: terms.workspaceId }
  if (await deps.payments.attribute(payment, owner, deps.clock.now())) return
  const now = await deps.payments.findById(payment.id)
  if (now?.invoiceId !== terms.id) throw refused('The payment changed in the meantime: look at it and repeat.')
}

const asGiven = (payment: Payment, { terms }: Invoice): Payment => ({
  ...payment,
  invoiceId: terms.id,
  workspaceId: terms.workspaceId,
  version: payment.version + 1,
})

/** Inbox rows that a scanner opened about a stray transfer, whichever of them there are. */
function strayIds({ key }: Payment, owners: readonly string[]): readonly string[] {
  const unmatched = [...owners, 'operators'].map((owner) => `unmatched:${key}:${owner}`)
  return [...unmatched, `wrong_asset:${key}`, `wrong_network:${key}`]
}

function refused(message: string): PaymeshError {
  return new PaymeshError('INVALID_STATE', { message })
}

function invalid(message: string): PaymeshError {
  return new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'value', message }] })
}
