import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { InvoiceTerms, Ms } from '#shared/domain/invoice/model.ts'
import { WEBHOOK_RETRY_DELAYS_MS } from '#shared/domain/webhook/schedule.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { WorkspaceAction } from '#shared/usecases/audit/operator-action.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Beyond the last retry of a delivery: time for a delayed relay or dispatcher. */
const SLACK_MS: Ms = 6 * 3_600_000
/** How long an event's body must stay unchanged: every retry of a delivery carries the same bytes. */
export const DELIVERY_LIFE_MS: Ms = WEBHOOK_RETRY_DELAYS_MS.reduce((sum, delay) => sum + delay, 0) + SLACK_MS

/** Dependencies of erasing. */
export type EraseCustomerDeps = Uses<'clock' | 'invoices' | 'eraser' | 'secretBox'>

/** Who requests it, and for which invoice. */
export interface EraseCustomerInput extends WorkspaceAction {
  readonly invoiceId: string
}

/**
 * Removes the customer's name and e-mail address and the texts of operators' notes from an invoice and its exceptions, the former also from stored responses of idempotency keys, and from the
 * bodies of events whose deliveries have ended; newer bodies follow once theirs have. The audit row names neither. Repeating it
 * changes nothing. Returns the stored result. Throws `NOT_FOUND`.
 */
export async function eraseCustomer(
  deps: EraseCustomerDeps,
  input: EraseCustomerInput,
): Promise<InvoiceTerms['customer']> {
  const { workspaceId, mode, invoiceId, actor, reason, opId } = input
  if ((await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)) === null) throw new PaymeshError('NOT_FOUND')
  const at = deps.clock.now()
  const about = { action: 'invoice.customer_erased' as const, subject: invoiceId, workspaceId, mode }
  const audit = { id: `customer-erased:${opId}`, at, actor, ...about, detail: { reason } }
  await eraseRecorded(deps, audit, { madeBefore: at - DELIVERY_LIFE_MS, sweepAt: at + DELIVERY_LIFE_MS })
  const invoice = await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)
  if (invoice === null) throw new PaymeshError('NOT_FOUND')
  return invoice.terms.customer
}

/** Erases the customer of the invoice that an audit row is about: from it, from stored responses, and from bodies of events made before a time; from all others at `sweepAt`. */
export async function eraseRecorded(
  { eraser, secretBox }: Pick<EraseCustomerDeps, 'eraser' | 'secretBox'>,
  audit: AuditRecord & { readonly workspaceId: string; readonly mode: Mode },
  { madeBefore, sweepAt }: { readonly madeBefore: Ms; readonly sweepAt: Ms },
): Promise<void> {
  const { workspaceId, mode, subject: invoiceId } = audit
  const scope = { workspaceId, mode, invoiceId }
  await eraser.eraseInvoice(scope, sweepAt, audit)
  for (const answer of await eraser.storedAnswers(scope)) {
    const body = secretBox.open(answer.body, answer.scope)
    await eraser.replaceAnswer(answer, secretBox.seal(withoutCustomer(body), answer.scope))
  }
  await eraser.eraseEvents(invoiceId, madeBefore)
}

/** Erases bodies that were too new at the time of the request. Returns how many invoices were done; call it again while it is not 0. */
export async function sweepErasures(deps: Pick<EraseCustomerDeps, 'clock' | 'eraser'>, limit: number): Promise<number> {
  const now = deps.clock.now()
  const due = await deps.eraser.dueSweeps(now, limit)
  for (const invoiceId of due) {
    await deps.eraser.eraseEvents(invoiceId, now)
    await deps.eraser.endSweep(invoiceId, now)
  }
  return due.length
}

/** The same text with an empty customer in every invoice of it. */
function withoutCustomer(body: string): string {
  const answer: unknown = JSON.parse(body)
  return JSON.stringify(answer, (name, value: unknown) => {
    return name === 'customer' && typeof value === 'object' && value !== null ? { email: null, name: null } : value
  })
}
