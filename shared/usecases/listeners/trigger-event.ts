import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import type { EventType, InvoiceStatus } from '#shared/domain/enumerations.ts'
import type { SimulationScenario } from '#shared/domain/invoice/plan-simulation.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { testEvent } from '#shared/usecases/endpoints/test-event.ts'
import { cancelInvoice } from '#shared/usecases/invoices/cancel-invoice.ts'
import { type CreateInvoiceDeps, createInvoice } from '#shared/usecases/invoices/create-invoice.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'
import { quoteFirstAsset } from '#shared/usecases/invoices/quote-first-asset.ts'
import { confirmSimulated, type SimulateDeps, simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'

/** Above every asset's minimum, and half of it is as well. */
const WISH = { amount: '40.00', currency: 'USD', description: 'Triggered for a test of webhooks.' } as const

/** Dependencies of triggering events. */
export type TriggerDeps = SimulateDeps &
  Uses<'invoices' | 'payments' | 'counts' | 'rates' | 'events'> & {
    readonly numbers: CreateInvoiceDeps['numbers']
    readonly urls: PublicUrls
  }

type Step = SimulationScenario | 'paymentMethod' | 'cancel' | 'confirm'

/** Steps applied to a new invoice, in this order, until the event is announced. */
const STEPS: Readonly<Record<Exclude<EventType, 'webhook.test'>, readonly Step[]>> = {
  'invoice.created': [],
  'invoice.pending': ['paymentMethod'],
  'invoice.partial': ['partial'],
  // The first half is confirmed when the second one is seen.
  'invoice.confirming': ['partial', 'unconfirmed', 'confirm'],
  'invoice.paid': ['paid'],
  'invoice.overpaid': ['overpaid'],
  'invoice.expired': ['expired'],
  'invoice.late_payment': ['expired', 'late'],
  'invoice.cancelled': ['paymentMethod', 'cancel'],
  'payment.detected': ['unconfirmed', 'confirm'],
  'payment.confirmed': ['paid'],
}

const WAITING = ['new', 'pending', 'partial'] as const
const whileWaiting = (...steps: readonly Step[]): Partial<Record<InvoiceStatus, readonly Step[]>> =>
  Object.fromEntries(WAITING.map((status) => [status, steps]))

/**
 * Steps that make an existing invoice announce the event, by its status; where there are none, real money could not cause the event either.
 * A payment stays unconfirmed until a trigger of what its confirmation announces.
 */
const STEPS_FROM: Readonly<
  Record<Exclude<EventType, 'webhook.test'>, Partial<Record<InvoiceStatus, readonly Step[]>>>
> = {
  'invoice.created': {},
  'invoice.pending': { new: ['paymentMethod'] },
  'invoice.partial': whileWaiting('partial'),
  'invoice.confirming': whileWaiting('unconfirmed'),
  'invoice.paid': { ...whileWaiting('paid'), confirming: ['confirm'], expired: ['late'] },
  'invoice.overpaid': { ...whileWaiting('overpaid'), paid: ['overpaid'] },
  'invoice.expired': whileWaiting('expired'),
  'invoice.late_payment': { ...whileWaiting('expired', 'late'), expired: ['late'] },
  'invoice.cancelled': { new: ['cancel'], pending: ['cancel'], expired: ['cancel'] },
  'payment.detected': whileWaiting('unconfirmed'),
  'payment.confirmed': {
    ...whileWaiting('paid'),
    confirming: ['confirm'],
    paid: ['second'],
    overpaid: ['second'],
    expired: ['late'],
    cancelled: ['late'],
  },
}

/** The invoice that an event is triggered for: an existing one of test mode, or a new one with these fields. */
export interface TriggerSubject {
  readonly invoiceId?: string | undefined
  readonly orderId?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/**
 * Triggers a test mode event: a new test invoice goes through the same use cases that merchants and payers use, with
 * simulated payments, and the outbox announces its events. Earlier events on the way are announced as well.
 * `webhook.test` is stored for listeners and sent to no endpoint; it concerns no invoice, so that `invoiceId` is null. With `invoiceId` the steps continue that invoice from its status. Throws
 * `WORKSPACE_SUSPENDED`, `WORKSPACE_RESTRICTED`, `INVALID_STATE` for an event that cannot follow, and the errors of creating, simulating
 * and cancelling.
 */
export async function triggerEvent(
  deps: TriggerDeps,
  { workspace, type, subject = {} }: { workspace: Workspace; type: EventType; subject?: TriggerSubject },
) {
  requireStatus(workspace, 'active')
  if (type === 'webhook.test') {
    const [opId, at] = [deps.random.uuid(), deps.clock.now()]
    await deps.events.insertMany([testEvent({ workspaceId: workspace.id, mode: 'test', opId, at, urls: deps.urls })])
    return { type, invoiceId: null }
  }
  const target = await targetOf(deps, workspace, type, subject)
  const steps = subject.invoiceId === undefined ? STEPS[type] : await stepsFrom(deps, type, target)
  for (const step of steps) {
    const opId = deps.random.uuid()
    if (step === 'paymentMethod') await quoteFirstAsset(deps, target)
    else if (step === 'confirm') await confirmSimulated(deps, target)
    else if (step === 'cancel') await cancelInvoice(deps, { ...target, opId })
    else await simulatePayment(deps, { ...target, scenario: step, opId })
  }
  return { type, invoiceId: target.invoiceId }
}

interface Target {
  readonly workspaceId: string
  readonly mode: 'test'
  readonly invoiceId: string
}

async function targetOf(
  deps: TriggerDeps,
  workspace: Workspace,
  type: EventType,
  { invoiceId, orderId, metadata = {} }: TriggerSubject,
): Promise<Target> {
  const scope = { workspaceId: workspace.id, mode: 'test' } as const
  if (invoiceId !== undefined) return { ...scope, invoiceId }
  const fields = { ...WISH, order_id: orderId, metadata: { trigger: type, ...metadata } }
  const body = invoiceCreateBody.test.parse(fields)
  const made = await createInvoice(deps, { workspace, mode: 'test', body, source: 'api', idempotency: null })
  if (made.outcome !== 'created') throw new Error('an invoice without an idempotency key met one')
  return { ...scope, invoiceId: made.terms.id }
}

async function stepsFrom(
  deps: TriggerDeps,
  type: Exclude<EventType, 'webhook.test'>,
  { workspaceId, mode, invoiceId }: Target,
): Promise<readonly Step[]> {
  const found = await deps.invoices.findInWorkspace(workspaceId, mode, invoiceId)
  if (found === null) throw new PaymeshError('NOT_FOUND', { message: 'There is no such test invoice.' })
  const { status } = found.state
  const steps = STEPS_FROM[type][status]
  if (steps !== undefined) return steps
  const message = `${type} cannot follow on an invoice that is ${status}.`
  throw invalidState(message)
}
