import { invalidField, invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import type { ExceptionKind } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Decision, ExceptionEntry, Resolution } from '#shared/ports/exception-decisions.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { refusalError } from '#shared/usecases/invoices/refusal-error.ts'
import { type AttachDeps, attachPayment, type WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** A decision that takes longer than this has crashed with its process. */
export const DECIDING_MAX_MS: Ms = 60_000

/** Exceptions about one transfer that an operator may count. */
const ABOUT_PAYMENT: readonly ExceptionKind[] = [
  'late',
  'wrong_asset',
  'wrong_network',
  'out_of_quote',
  'cancelled_paid',
]

/** Dependencies of deciding. */
export type DecideDeps = AttachDeps & Uses<'decisions' | 'payments'>

/** The decision: who, which exception, and what. */
export interface DecideInput extends WorkspaceAction {
  readonly exceptionId: string
  readonly resolution: Resolution
  /** The operation succeeded before: the exception is returned as it is now, even when it was reopened since. */
  readonly isDone?: boolean
  /** The invoice to apply the payment to; only for `attached`. */
  readonly invoiceId?: string
  /** Value in base units of the invoice's asset; needed for money in another asset. */
  readonly valueBase?: bigint
  /** Called before the exception is claimed, and again with the write; see {@link WeighAcceptance}. Absent = nothing is refused or mailed. */
  readonly weigh?: WeighAcceptance
}

/** The ways to accept an exception, besides rejecting and closing it. */
export function waysToAccept(entry: Pick<ExceptionEntry, 'kind' | 'paymentKey' | 'invoiceId'>): Resolution[] {
  if (entry.kind === 'partial' && entry.invoiceId !== null) return ['accepted']
  if (entry.paymentKey === null) return []
  if (entry.invoiceId !== null && ABOUT_PAYMENT.includes(entry.kind)) return ['accepted']
  return entry.invoiceId === null ? ['attached'] : []
}

/**
 * Carries out an operator's decision and closes the exception, with its audit row. Only one person decides it: a second one
 * gets `INVALID_STATE` that names who did what and when, and nothing changes. Repeating the operation changes nothing, also after
 * a crash at any line. Throws `NOT_FOUND`, and every error of accepting or attaching; the exception then stays open.
 */
export async function decideException(deps: DecideDeps, input: DecideInput): Promise<ExceptionEntry> {
  const entry = await find(deps, input)
  const { opId, actor, resolution, reason } = input
  if (input.isDone === true) return entry
  const isContinued = isOwnRest(entry, opId)
  if (entry.closedAt !== null && !isContinued) return answerClosed(entry, opId)
  requireWay(entry, resolution)
  // Before the claim: a person who has to fetch a code first must not block others from deciding.
  if (input.weigh !== undefined) await carryOut(deps, entry, input, null)
  const at = deps.clock.now()
  const decision: Decision = { opId, by: actor, at, resolution, reason }
  if (!isContinued && !(await deps.decisions.claim(entry.id, decision, at - DECIDING_MAX_MS)))
    return await lost(deps, input)
  try {
    await carryOut(deps, entry, input, () => keepClaim(deps, input, decision))
  } catch (error) {
    // After an unexpected failure the outcome is unknown: the same operation may continue, others wait a minute.
    if (error instanceof PaymeshError) await deps.decisions.release(entry.id, opId)
    throw error
  }
  const isRecorded = await deps.decisions.resolve(entry.id, decision, auditOf(entry, input, at))
  return isRecorded ? await find(deps, input) : await overtaken(deps, input)
}

/** Another person decides once this claim is a minute old. Throws then, before anything is stored; otherwise the claim is as good as new. */
async function keepClaim(deps: DecideDeps, input: DecideInput, decision: Decision): Promise<void> {
  const now = deps.clock.now()
  if (await deps.decisions.claim(input.exceptionId, { ...decision, at: now }, now - DECIDING_MAX_MS)) return
  // The invoice's own relay may have closed it under this claim.
  if (!isOwnRest(await find(deps, input), input.opId)) await lost(deps, input)
}

/**
 * The claim was another's before the decision was recorded. The person gets an error that names the other one, which says where money was
 * applied nevertheless; a repeated or concurrent call of the same operation returns its own result.
 */
async function overtaken(deps: DecideDeps, input: DecideInput): Promise<ExceptionEntry> {
  const entry = await find(deps, input)
  const { resolved, deciding, closedAt } = entry
  if (resolved?.opId === input.opId) return entry
  if (input.resolution !== 'accepted' && input.resolution !== 'attached') return await lost(deps, input)
  const other = deciding ?? (resolved?.at === closedAt ? resolved : null)
  // Nobody decided otherwise: another claim was refused because of this very application, or is the same.
  if (other === null || other.resolution === input.resolution) return entry
  const what = deciding === null ? DONE[other.resolution] : 'is working on this'
  throw possiblyReturned(other.by, what)
}

/** The refusal to confirm a decision that applied the money while another person did something else with it. */
export function possiblyReturned(by: string, what: string): PaymeshError {
  const person = personOf(by)
  return conflict(
    `The payment was applied, but meanwhile ${person} ${what}. Make sure that it is not returned to the customer.`,
    { by },
  )
}

/**
 * Checks a decision without claiming, storing or mailing anything: resolves where `decideException` would carry it out now, and throws what
 * it would throw otherwise, also while another person is deciding. `weigh` is called as before a claim.
 */
export async function checkDecision(deps: DecideDeps, input: DecideInput): Promise<ExceptionEntry> {
  const entry = await find(deps, input)
  if (entry.closedAt !== null && !isOwnRest(entry, input.opId)) return answerClosed(entry, input.opId)
  const { deciding } = entry
  const isTaken = deciding !== null && deciding.opId !== input.opId
  if (isTaken && deciding.at > deps.clock.now() - DECIDING_MAX_MS) throw beingDecided(deciding)
  requireWay(entry, input.resolution)
  await carryOut(deps, entry, input, null)
  return entry
}

/** Whether this operation's process died after the claim, and the invoice's relay has closed the exception since: the decision is not recorded yet. */
function isOwnRest({ closedAt, deciding }: ExceptionEntry, opId: string): boolean {
  return closedAt !== null && deciding !== null && deciding.opId === opId
}

/** Throws unless the page of the exception offers this decision. */
function requireWay(entry: ExceptionEntry, resolution: Resolution): void {
  const ways = waysToAccept(entry)
  const isMoney = ways.length > 0
  if (resolution === 'closed' && isMoney)
    throw invalidState('This is a decision about money: accept it, reject it or apply it to an invoice.')
  if (resolution === 'rejected' && !isMoney)
    throw invalidState('There is no payment to reject here. Mark it as resolved instead.')
  if (resolution === 'closed' || resolution === 'rejected' || ways.includes(resolution)) return
  throw invalidState('There is nothing to accept here. Mark it as resolved when you are done.')
}

/** Adds a note to an exception, open or closed. Repeating the operation changes nothing. Throws `NOT_FOUND`. */
export async function noteException(
  deps: Pick<DecideDeps, 'clock' | 'decisions'>,
  input: Omit<DecideInput, 'resolution' | 'reason' | 'isDone'> & { readonly text: string },
): Promise<ExceptionEntry> {
  const { opId, actor, text } = input
  const entry = await find(deps, input)
  const at = deps.clock.now()
  const { kind, workspaceId, mode } = entry
  // Without the text: it may name the customer, and audit rows are never erased.
  const detail = { kind }
  const action = 'exception.noted' as const
  const audit = { id: `exception-note:${opId}`, at, actor, action, subject: entry.id, detail }
  await deps.decisions.addNote(entry.id, { opId, by: actor, at, text }, { ...audit, workspaceId, mode })
  return await find(deps, input)
}

async function carryOut(
  deps: DecideDeps,
  entry: ExceptionEntry,
  input: DecideInput,
  /** Called just before anything is stored; null only checks. */
  beforeWrite: (() => Promise<void>) | null,
): Promise<void> {
  const { resolution, actor, reason, weigh } = input
  if (resolution === 'rejected') await requireUnapplied(deps, entry)
  if (resolution === 'rejected' || resolution === 'closed') return
  const attribution = { by: actor, ...(reason !== null && { reason }) }
  if (entry.kind === 'partial') return await acceptReceived(deps, entry, attribution, { beforeWrite, weigh })
  const [payment] = await deps.payments.findByKeys([entry.paymentKey ?? ''])
  const invoiceId = resolution === 'attached' ? input.invoiceId : entry.invoiceId
  if (payment === undefined)
    throw new PaymeshError('NOT_FOUND', { message: 'The payment of this exception was not found.' })
  if (invoiceId === undefined || invoiceId === null) throw invalidField('invoiceId', 'is required')
  await requireOwn(deps, input, invoiceId)
  await attachPayment(deps, {
    paymentId: payment.id,
    invoiceId,
    valueBase: input.valueBase ?? null,
    dryRun: beforeWrite === null,
    actor,
    ...(beforeWrite !== null && { beforeWrite }),
    ...(weigh !== undefined && { weigh }),
    ...(reason !== null && { reason }),
  })
}

/** Rejected money is returned to the customer, so money that already settles an invoice cannot be rejected, even while its exception is still open. */
async function requireUnapplied(deps: DecideDeps, entry: ExceptionEntry): Promise<void> {
  const { kind, paymentKey, workspaceId } = entry
  const [payment] = paymentKey === null ? [] : await deps.payments.findByKeys([paymentKey])
  const invoiceId = paymentKey === null ? entry.invoiceId : payment?.invoiceId
  const invoice = invoiceId === null || invoiceId === undefined ? null : await deps.invoices.findById(invoiceId)
  if (invoice === null) return
  const { ledger, underpaidAccepted } = invoice.state
  const isApplied =
    kind === 'partial'
      ? underpaidAccepted
      : ledger.some((row) => row.payment === paymentKey && row.acceptedBase !== null)
  if (!isApplied) return
  const target = invoice.terms.workspaceId === workspaceId ? `invoice #${invoice.terms.number}` : 'an invoice'
  throw invalidState(`This money was applied to ${target}, so it cannot be rejected.`)
}

/** The total received settles the invoice, although it is less than the amount due. */
async function acceptReceived(
  deps: DecideDeps,
  entry: ExceptionEntry,
  attribution: { readonly by: string; readonly reason?: string },
  {
    beforeWrite,
    weigh,
  }: { readonly beforeWrite: (() => Promise<void>) | null; readonly weigh: WeighAcceptance | undefined },
): Promise<void> {
  await beforeWrite?.()
  // One id for every operator: if two claims overlap, only one accepts.
  const opId = `accept:${entry.id}:${entry.openedAt}`
  const event = { type: 'funds_accepted', payments: [], ...attribution } as const
  const result = await applyInvoiceEvent(deps, {
    ...{ invoiceId: entry.invoiceId ?? '', event, opId },
    ...(weigh !== undefined && { weigh: (after) => weigh({ after, isStated: false }) }),
    ...(beforeWrite === null && { preview: { payments: [] } }),
  })
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
}

async function requireOwn(deps: DecideDeps, { workspaceId, mode }: DecideInput, invoiceId: string): Promise<void> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null || invoice.terms.workspaceId !== workspaceId || invoice.terms.mode !== mode)
    throw new PaymeshError('NOT_FOUND', { message: 'Invoice not found.' })
}

async function find(
  deps: Pick<DecideDeps, 'decisions'>,
  { workspaceId, mode, exceptionId }: Pick<DecideInput, 'workspaceId' | 'mode' | 'exceptionId'>,
): Promise<ExceptionEntry> {
  const entry = await deps.decisions.find(workspaceId, mode, exceptionId)
  if (entry === null) throw new PaymeshError('NOT_FOUND')
  return entry
}

async function lost(deps: DecideDeps, input: DecideInput): Promise<ExceptionEntry> {
  const entry = await find(deps, input)
  if (entry.closedAt !== null) return answerClosed(entry, input.opId)
  throw beingDecided(entry.deciding)
}

/** The refusal of a decision about an open exception that another one claimed; null when that claim has ended since. */
export function beingDecided(other: Decision | null): PaymeshError {
  if (other === null) return conflict('Someone else changed this first. Review it and try again.', null)
  return conflict(`${personOf(other.by)} is working on this.`, other)
}

const DONE: Readonly<Record<Resolution, string>> = {
  accepted: 'accepted this',
  attached: 'applied this to an invoice',
  rejected: 'rejected this',
  closed: 'marked this as resolved',
}

/** Repeating the operation returns its own result; anyone else gets an error that names who was first. */
function answerClosed(entry: ExceptionEntry, opId: string): ExceptionEntry {
  const { resolved, closedAt } = entry
  if (resolved?.opId === opId) return entry
  if (resolved === null || closedAt === null || resolved.at !== closedAt)
    throw conflict('This closed automatically because it no longer applies. No changes were made.', null)
  const at = new Date(resolved.at).toISOString()
  throw conflict(`${personOf(resolved.by)} ${DONE[resolved.resolution]} at ${at}. No changes were made.`, resolved)
}

function conflict(message: string, by: Pick<Decision, 'by'> | null): PaymeshError {
  const details = by === null ? [] : [{ path: 'by', message: personOf(by.by) }]
  return new PaymeshError('INVALID_STATE', { message, details })
}

const personOf = (actor: string): string => actor.replace(/^user:/, '')

function auditOf(entry: ExceptionEntry, input: DecideInput, at: Ms): AuditRecord {
  const { kind, workspaceId, mode, invoiceId, paymentKey } = entry
  return {
    id: `exception:${input.opId}`,
    at,
    actor: input.actor,
    action: `exception.${input.resolution}`,
    subject: entry.id,
    workspaceId,
    mode,
    detail: { kind, invoice: input.invoiceId ?? invoiceId, payment: paymentKey, reason: input.reason },
  }
}
