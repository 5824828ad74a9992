import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { PaymentMethod } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { DeliveryOutcome } from '#shared/ports/deliveries.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { InvoiceChange, NewInvoice } from '#shared/ports/invoices.ts'
import { sampleEntry, sampleInvoice } from '#test/support/db-samples.ts'

/**
 * Three hours ago: what happens at it is due and never taken for the store's own clock, and no time to live of the real
 * store has passed since, which would let it delete documents while a test looks at them.
 */
export const PAST = Math.floor(Date.now() / 1_000) * 1_000 - 3 * 3_600_000
/** A time that no test reaches. */
export const FUTURE = Date.UTC(2100, 0, 1)
/** Leases last ten minutes, so that they show as such whatever the clock says. */
export const LEASE_MS = 600_000

type InvoiceOverrides = NonNullable<Parameters<typeof sampleInvoice>[1]>

/** A new invoice whose id is the given name. */
export const invoiceNamed = (id: string, overrides: InvoiceOverrides = {}): NewInvoice =>
  sampleInvoice({ uuid: () => id, bytes: (length) => new Uint8Array(length) }, { at: PAST, ...overrides })

/** A change that moves a new invoice from one version to the next and appends one entry. */
export function changeOf(
  { terms, state }: NewInvoice,
  {
    from = 1,
    op = null as string | null,
    ...overrides
  }: Partial<NewInvoice['state']> & { from?: number; op?: string | null } = {},
): InvoiceChange {
  const seq = from + 1
  return {
    id: terms.id,
    expectedVersion: from,
    expectedRefundSeq: 0,
    state: { ...state, version: seq, eventSeq: seq, updatedAt: PAST + seq, ...overrides },
    append: [sampleEntry(terms.id, seq, PAST + seq)],
    op: op === null ? null : { opId: op, seq },
  }
}

/** A hold of an address, which ends. */
export const HOLD: NonNullable<PaymentMethod['hold']> = {
  kind: 'address',
  quarantineMs: 1_000,
  heldMs: 1,
  releasedAt: null,
}

/** What an attempt came to. */
export const outcomeOf = (
  deliveryId: string,
  leaseToken: string,
  result: DeliveryOutcome['result'],
  retryAfterMs: number | null = null,
): DeliveryOutcome => ({
  deliveryId,
  leaseToken,
  result,
  retryAfterMs,
  attempt: {
    number: 1,
    at: PAST,
    durationMs: 12.5,
    statusCode: result === 'succeeded' ? 204 : 500,
    error: result === 'succeeded' ? null : 'status',
    ip: null,
    phases: { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    responseBody: 'answer',
  },
})

/** An endpoint of a workspace. */
export const endpointNamed = (id: string, overrides: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id,
  workspaceId: 'ws-1',
  url: 'https://example.com/hook',
  events: ['*'],
  mode: 'both',
  description: null,
  status: 'enabled',
  sealedSecrets: ['sealed'],
  formerSecrets: [],
  inFlightMax: null,
  createdAt: PAST,
  updatedAt: PAST,
  opId: null,
  ...overrides,
})

/** An entry of the inbox. */
export const exceptionNamed = (id: string, overrides: Partial<ExceptionRecord> = {}): ExceptionRecord => ({
  id,
  kind: 'unmatched',
  workspaceId: 'ws-1',
  mode: 'test',
  invoiceId: null,
  paymentKey: null,
  detail: 'a payment nobody asked for',
  openedAt: PAST,
  closedAt: null,
  ...overrides,
})

/** A row of the audit trail. */
export const auditNamed = (id: string, overrides: Partial<AuditRecord> = {}): AuditRecord => ({
  id,
  at: PAST,
  actor: 'operator',
  action: 'golive.master_key_stated',
  subject: 'subject-1',
  workspaceId: null,
  mode: null,
  detail: { reason: 'because', count: 1, yes: true, none: null },
  ...overrides,
})

/** The name of the error that work ends with, or its value. */
export const outcome = <T>(work: Promise<T>): Promise<T | string> =>
  work.catch((error: unknown) => (error instanceof Error ? error.name : String(error)))

/** Which rows they are, in their order. */
export const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)
