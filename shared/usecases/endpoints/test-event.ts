import type { InvoiceResource } from '#shared/contracts/http/invoice-resource.ts'
import { simulatedInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { API_VERSION } from '#shared/contracts/webhooks/event.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { PublicUrls } from '#shared/usecases/invoices/present-invoice.ts'

/** The usual life of a quote. */
const QUOTE_MS: Ms = 1_200_000

/** Workspace, mode and time of a test event. `opId` is a UUID, the same for every repetition of one request; together they create one event. */
export interface TestEventInput {
  readonly workspaceId: string
  readonly mode: Mode
  readonly opId: string
  readonly at: Ms
  readonly urls: PublicUrls
}

/** A `webhook.test` event with a sample invoice. The sample's id belongs to no stored invoice. */
export function testEvent({ workspaceId, mode, opId, at, urls }: TestEventInput): EventRecord {
  const id = eventId(opId, 0)
  const body = {
    id,
    object: 'event',
    type: 'webhook.test',
    api_version: API_VERSION,
    livemode: mode === 'live',
    created_at: new Date(at).toISOString(),
    data: { object: sampleInvoice(opId, mode, at, urls) },
  }
  return {
    ...{ id, workspaceId, mode, invoiceId: null, seq: 0, type: 'webhook.test' },
    body: new TextEncoder().encode(JSON.stringify(body)),
    createdAt: at,
  }
}

function sampleInvoice(id: string, mode: Mode, at: Ms, { checkoutBaseUrl }: PublicUrls): InvoiceResource {
  const time = new Date(at).toISOString()
  const later = new Date(at + QUOTE_MS).toISOString()
  const page = `${checkoutBaseUrl}/i/${id}`
  return {
    ...simulatedInvoice,
    id,
    livemode: mode === 'live',
    description: 'Sample invoice of a test event; nobody paid.',
    order_id: null,
    metadata: {},
    customer: { email: null, name: null },
    urls: { checkout: page, receipt: `${page}/receipt`, success: null, cancel: null },
    rate: simulatedInvoice.rate && { ...simulatedInvoice.rate, locked_at: time, expires_at: later },
    ...{ created_at: time, expires_at: later, paid_at: time, updated_at: time },
  }
}
