import { PaymeshError } from '#shared/contracts/errors.ts'
import type { ExceptionKind, Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Decision, DeskEntry, ExceptionDesk, Resolution } from '#shared/ports/exception-decisions.ts'
import type { PaymentRepository } from '#shared/ports/payments.ts'
import { applyInvoiceEvent } from '#shared/usecases/invoices/apply-invoice-event.ts'
import { refusalError } from '#shared/usecases/invoices/refusal-error.ts'
import { type AttachDeps, attachPayment, type WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'

/** A decision that takes longer than this has died with its process. */
const DECIDING_MAX_MS: Ms = 60_000

/** Entries about one transfer that an operator may let count. */
const ABOUT_PAYMENT: readonly ExceptionKind[] = [
  'late',
  'wrong_asset',
  'wrong_network',
  'out_of_quote',
  'cancelled_paid',
]

/** What deciding needs. */
export interface DecideDeps extends AttachDeps {
  readonly desk: ExceptionDesk
  readonly payments: AttachDeps['payments'] & Pick<PaymentRepository, 'findByKeys'>
}

/** Who decides what about which entry. */
export interface DecideInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly exceptionId: string
  readonly resolution: Resolution
  readonly opId: string
  readonly actor: string
  readonly reason: string | null
  /** The operation succeeded before: the entry is returned as it is now, even when it was opened again since. */
  readonly isDone?: boolean
  /** The invoice it shall count on; only for `attached`. */
  readonly invoiceId?: string
  /** Value in base units of the invoice's asset; needed for money in another asset. */
  readonly valueBase?: bigint
  /** Asked before the entry is claimed, and again with the write; see {@link WeighAcceptance}. Absent = nothing is refused or mailed. */
  readonly weigh?: WeighAcceptance
}

/** What may be decided about an entry, beside rejecting and closing it. */
export function waysToAccept(entry: Pick<DeskEntry, 'kind' | 'paymentKey' | 'invoiceId'>): readonly Resolution[] {
  if (entry.kind === 'partial' && entry.invoiceId !== null) return ['accepted']
  if (entry.paymentKey === null) return []
  if (entry.invoiceId !== null && ABOUT_PAYMENT.includes(entry.kind)) return ['accepted']
  return entry.invoiceId === null ? ['attached'] : []
}

/**
 * Carries out an operator's decision and closes the entry, with its audit row. Only one person decides an entry: whoever comes second
 * gets `INVALID_STATE` that says who did what and when, and nothing is done. The same operation again changes nothing, also after
 * a crash at any line. Throws `NOT_FOUND`, and what accepting or attaching throws; the entry then stays open.
 */
export async function decideException(deps: DecideDeps, input: DecideInput): Promise<DeskEntry> {
  const entry = await find(deps, input)
  const { opId, actor, resolution, reason } = input
  if (input.isDone === true) return entry
  if (entry.closedAt !== null) return answerClosed(entry, opId)
  if ((resolution === 'accepted' || resolution === 'attached') && !waysToAccept(entry).includes(resolution)) {
    throw new PaymeshError('INVALID_STATE', {
      message: 'There is nothing to accept here: close it when it is dealt with.',
    })
  }
  // Before anybody claims the entry: a person who has to fetch a code first keeps nobody else from deciding.
  if (input.weigh !== undefined) await carryOut(deps, entry, input, { dryRun: true })
  const at = deps.clock.now()
  const decision: Decision = { opId, by: actor, at, resolution, reason }
  if (!(await deps.desk.claim(entry.id, decision, at - DECIDING_MAX_MS))) return await lost(deps, input)
  try {
    await carryOut(deps, entry, input, { dryRun: false })
  } catch (error) {
    // After an unexpected failure nobody knows what was done: the same operation may go on, others wait a minute.
    if (error instanceof PaymeshError) await deps.desk.release(entry.id, opId)
    throw error
  }
  await deps.desk.resolve(entry.id, decision, auditOf(entry, input, at))
  return await find(deps, input)
}

/** Writes something beside an entry, open or closed. Repeating the operation changes nothing. Throws `NOT_FOUND`. */
export async function noteException(
  deps: Pick<DecideDeps, 'clock' | 'desk'>,
  input: Omit<DecideInput, 'resolution' | 'reason' | 'isDone'> & { readonly text: string },
): Promise<DeskEntry> {
  const { opId, actor, text } = input
  const entry = await find(deps, input)
  const at = deps.clock.now()
  const { kind, workspaceId, mode } = entry
  const detail = { kind, note: text }
  const audit = { id: `exception-note:${opId}`, at, actor, action: 'exception.noted', subject: entry.id, detail }
  await deps.desk.addNote(entry.id, { opId, by: actor, at, text }, { ...audit, workspaceId, mode })
  return await find(deps, input)
}

async function carryOut(
  deps: DecideDeps,
  entry: DeskEntry,
  input: DecideInput,
  { dryRun }: { readonly dryRun: boolean },
): Promise<void> {
  const { resolution, actor, reason, weigh } = input
  if (resolution === 'rejected' || resolution === 'closed') return
  const word = { by: actor, ...(reason !== null && { reason }) }
  if (entry.kind === 'partial') return await acceptReceived(deps, entry, word, { dryRun, weigh })
  const [payment] = await deps.payments.findByKeys([entry.paymentKey ?? ''])
  const invoiceId = resolution === 'attached' ? input.invoiceId : entry.invoiceId
  if (payment === undefined) throw new PaymeshError('NOT_FOUND', { message: 'The payment it is about is not known.' })
  if (invoiceId === undefined || invoiceId === null) {
    throw new PaymeshError('VALIDATION_ERROR', { details: [{ path: 'invoiceId', message: 'is required' }] })
  }
  await requireOwn(deps, input, invoiceId)
  await attachPayment(deps, {
    paymentId: payment.id,
    invoiceId,
    valueBase: input.valueBase ?? null,
    dryRun,
    actor,
    ...(weigh !== undefined && { weigh }),
    ...(reason !== null && { reason }),
  })
}

/** Everything that was received settles the invoice, although it is less than asked for. */
async function acceptReceived(
  deps: DecideDeps,
  entry: DeskEntry,
  word: { readonly by: string; readonly reason?: string },
  { dryRun, weigh }: { readonly dryRun: boolean; readonly weigh: WeighAcceptance | undefined },
): Promise<void> {
  // One name for every operator: of two whose claims overlapped, one accepts.
  const opId = `accept:${entry.id}:${entry.openedAt}`
  const event = { type: 'funds_accepted', payments: [], ...word } as const
  const result = await applyInvoiceEvent(deps, {
    ...{ invoiceId: entry.invoiceId ?? '', event, opId },
    ...(weigh !== undefined && { weigh: (after) => weigh({ after, isStated: false }) }),
    ...(dryRun && { preview: { payments: [] } }),
  })
  if (result.outcome === 'missing') throw new PaymeshError('NOT_FOUND')
  if (result.outcome === 'refused') throw refusalError(result.reason)
}

async function requireOwn(deps: DecideDeps, { workspaceId, mode }: DecideInput, invoiceId: string): Promise<void> {
  const invoice = await deps.invoices.findById(invoiceId)
  if (invoice === null || invoice.terms.workspaceId !== workspaceId || invoice.terms.mode !== mode)
    throw new PaymeshError('NOT_FOUND', { message: 'There is no such invoice.' })
}

async function find(
  deps: Pick<DecideDeps, 'desk'>,
  { workspaceId, mode, exceptionId }: Pick<DecideInput, 'workspaceId' | 'mode' | 'exceptionId'>,
): Promise<DeskEntry> {
  const entry = await deps.desk.find(workspaceId, mode, exceptionId)
  if (entry === null) throw new PaymeshError('NOT_FOUND')
  return entry
}

async function lost(deps: DecideDeps, input: DecideInput): Promise<DeskEntry> {
  const entry = await find(deps, input)
  if (entry.closedAt !== null) return answerClosed(entry, input.opId)
  const other = entry.deciding
  if (other === null) throw conflict('Somebody was faster. Look at it again.', null)
  throw conflict(`${personOf(other.by)} is deciding this right now.`, other)
}

const DONE: Readonly<Record<Resolution, string>> = {
  accepted: 'accepted this',
  attached: 'attached this',
  rejected: 'rejected this',
  closed: 'closed this',
}

/** The same operation again gets its own result; anybody else hears who was first. */
function answerClosed(entry: DeskEntry, opId: string): DeskEntry {
  const { resolved, closedAt } = entry
  if (resolved?.opId === opId) return entry
  if (resolved === null || closedAt === null || resolved.at !== closedAt)
    throw conflict('This closed by itself: its reason is gone. Nothing was done twice.', null)
  const at = new Date(resolved.at).toISOString()
  throw conflict(`${personOf(resolved.by)} ${DONE[resolved.resolution]} at ${at}. Nothing was done twice.`, resolved)
}

function conflict(message: string, by: Decision | null): PaymeshError {
  const details = by === null ? [] : [{ path: 'by', message: personOf(by.by) }]
  return new PaymeshError('INVALID_STATE', { message, details })
}

const personOf = (actor: string): string => actor.replace(/^user:/, '')

function auditOf(entry: DeskEntry, input: DecideInput, at: Ms): AuditRecord {
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
