import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import type { EventType } from '#shared/domain/enumerations.ts'
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

/** The result; `invoiceId` is null for `webhook.test`, which concerns no invoice. */
export interface Triggered {
  readonly type: EventType
  readonly invoiceId: string | null
}

/**
 * Triggers a test mode event: a new test invoice goes through the same use cases that merchants and payers use, with
 * simulated payments, and the outbox announces its events. Earlier events on the way are announced as well.
 * `webhook.test` is stored for listeners and sent to no endpoint. Throws `WORKSPACE_SUSPENDED`, `WORKSPACE_RESTRICTED` and
 * the errors of creating, simulating and cancelling.
 */
export async function triggerEvent(
  deps: TriggerDeps,
  { workspace, type }: { readonly workspace: Workspace; readonly type: EventType },
): Promise<Triggered> {
  requireStatus(workspace, 'active')
  if (type === 'webhook.test') {
    const [opId, at] = [deps.random.uuid(), deps.clock.now()]
    await deps.events.insertMany([testEvent({ workspaceId: workspace.id, mode: 'test', opId, at, urls: deps.urls })])
    return { type, invoiceId: null }
  }
  const body = invoiceCreateBody.test.parse({ ...WISH, metadata: { trigger: type } })
  const made = await createInvoice(deps, { workspace, mode: 'test', body, source: 'api', idempotency: null })
  if (made.outcome !== 'created') throw new Error('an invoice without an idempotency key met one')
  const target = { workspaceId: workspace.id, mode: 'test', invoiceId: made.terms.id } as const
  for (const step of STEPS[type]) {
    const opId = deps.random.uuid()
    if (step === 'paymentMethod') await quoteFirstAsset(deps, target)
    else if (step === 'confirm') await confirmSimulated(deps, target)
    else if (step === 'cancel') await cancelInvoice(deps, { ...target, opId })
    else await simulatePayment(deps, { ...target, scenario: step, opId })
  }
  return { type, invoiceId: target.invoiceId }
}
