import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope, successEnvelope } from '#shared/contracts/http/envelope.ts'
import type { IdempotencyRecord } from '#shared/db/requests/idempotency-model.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { Answer } from '#shared/ports/http-response.ts'
import type { Invoice, InvoiceIdempotency } from '#shared/ports/invoices.ts'
import { IDEMPOTENCY_WINDOW_MS, isReplayable } from '#shared/usecases/requests/idempotency-scope.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { CreateInvoiceDeps, CreateInvoiceResult } from './create-invoice.ts'
import { type PublicUrls, presentInvoice } from './present-invoice.ts'

/** How long to search for the invoice after an insert was refused because it exists. */
const READ_BACK_MS = 5_000
const READ_BACK_PAUSE_MS = 20
/** A stored refusal needs no lease; it is written in one step. */
const REFUSAL_LEASE_MS = 10_000

/** Dependencies of creating an invoice under an idempotency key. */
export type CreateOnceDeps = CreateInvoiceDeps &
  Uses<'invoices' | 'events' | 'idempotency' | 'secretBox'> & {
    /** Reads a stored refusal; concurrent requests share one read. */
    readonly findRefusal: (scope: string) => Promise<IdempotencyRecord | null>
    readonly urls: PublicUrls
  }

/** One request with an idempotency key. */
export interface KeyedCreate {
  readonly workspaceId: string
  readonly mode: 'live' | 'test'
  readonly scope: string
  readonly guard: InvoiceIdempotency
  /** Another request with this key may be running. */
  readonly busy: boolean
  /** Validates and creates; `createInvoice` with all checks before it. */
  readonly create: () => Promise<CreateInvoiceResult>
}

/** The response of a new creation, with or without a key. */
export function createdAnswer(
  deps: Pick<CreateOnceDeps, 'urls'>,
  created: Extract<CreateInvoiceResult, { outcome: 'created' }>,
  requestId: string,
): Answer {
  const resource = presentInvoice(created.terms, created.snapshot, deps.urls)
  return { status: 201, body: successEnvelope(JSON.stringify(resource), null, requestId), replayed: false }
}

/**
 * Creates at most one invoice per key and window, and repeats the first response byte for byte. The invoice itself is the
 * guard: its unique index decides between concurrent requests, whatever Redis holds. Business refusals are
 * stored separately and apply only while no invoice carries the key. Throws `IDEMPOTENCY_MISMATCH` and `IDEMPOTENCY_IN_PROGRESS`.
 */
export async function createInvoiceOnce(deps: CreateOnceDeps, request: KeyedCreate): Promise<Answer> {
  const refusal = await deps.findRefusal(request.scope)
  if (request.busy || (refusal !== null && refusal.response !== null)) {
    const earlier = (await replayInvoice(deps, request)) ?? replayRefusal(deps, request, refusal)
    if (earlier !== null) return earlier
    if (request.busy) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
  }
  try {
    return await createOrReplay(deps, request)
  } catch (error) {
    // A create that used the last quota, or whose workspace was restricted since, must still replay.
    const earlier = await replayInvoice(deps, request)
    if (earlier !== null) return earlier
    const stored = isReplayable(error) ? await storeRefusal(deps, request, error) : null
    if (stored !== null) return stored
    throw error
  }
}

async function createOrReplay(deps: CreateOnceDeps, request: KeyedCreate): Promise<Answer> {
  const until = deps.clock.now() + READ_BACK_MS
  for (;;) {
    const result = await request.create()
    if (result.outcome === 'created') return createdAnswer(deps, result, request.guard.requestId)
    // The other invoice may not be majority-committed yet, or its key was just released because it is too old.
    const earlier = await replayInvoice(deps, request)
    if (earlier !== null) return earlier
    if (deps.clock.now() >= until) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
    await new Promise((resolve) => setTimeout(resolve, READ_BACK_PAUSE_MS))
  }
}

/** The creation response of the invoice that carries the key; null when there is none (any more). */
async function replayInvoice(deps: CreateOnceDeps, request: KeyedCreate): Promise<Answer | null> {
  const { workspaceId, mode, guard } = request
  const found = await deps.invoices.findByIdempotencyKey(workspaceId, mode, guard.key)
  if (found === null) return null
  if (found.idempotency.at + IDEMPOTENCY_WINDOW_MS <= deps.clock.now()) {
    await deps.invoices.releaseIdempotencyKey(found.invoice.terms.id, found.idempotency)
    return null
  }
  if (found.idempotency.fingerprint !== guard.fingerprint) throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  const data = await creationJson(deps, found.invoice)
  return { status: 201, body: successEnvelope(data, null, found.idempotency.requestId), replayed: true }
}

/** The invoice as in the first response: from its first outbox entry, or from the event that the relay made of it. */
async function creationJson(deps: CreateOnceDeps, invoice: Invoice): Promise<string> {
  const entry = invoice.outbox.find(({ seq }) => seq === 1)
  if (entry !== undefined) return JSON.stringify(presentInvoice(invoice.terms, entry.snapshot, deps.urls))
  const id = eventId(invoice.terms.id, 1)
  const event = (await deps.events.findByIds([id])).get(id)
  if (event === undefined) throw new Error(`the creation event of invoice ${invoice.terms.id} is gone`)
  const body = JSON.parse(Buffer.from(event.body).toString('utf8')) as { data: { object: object } }
  // An erased customer is not named again; otherwise these values are unchanged.
  return JSON.stringify({ ...body.data.object, customer: invoice.terms.customer })
}

function replayRefusal(deps: CreateOnceDeps, request: KeyedCreate, refusal: IdempotencyRecord | null): Answer | null {
  if (refusal === null || refusal.response === null) return null
  if (refusal.createdAt + IDEMPOTENCY_WINDOW_MS <= deps.clock.now()) return null
  if (refusal.fingerprint !== request.guard.fingerprint) throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  const { status, body } = refusal.response
  return { status, body: deps.secretBox.open(body, request.scope), replayed: true }
}

/** Stores a refusal, so that a repetition gets the same; returns the one that another request of the key stored before. */
async function storeRefusal(deps: CreateOnceDeps, request: KeyedCreate, error: PaymeshError): Promise<Answer | null> {
  const { scope, guard } = request
  const begun = await deps.idempotency.begin(scope, guard.fingerprint, guard.requestId, guard.at, REFUSAL_LEASE_MS)
  if (begun.outcome === 'begun' || begun.outcome === 'resumed') {
    // Sealed, as every stored response is: a restore and a rotation of the master key read them all.
    const body = deps.secretBox.seal(errorEnvelope(error, guard.requestId), scope)
    if (await deps.idempotency.finish(scope, begun.fencingToken, { status: error.status, body })) return null
  }
  return replayRefusal(deps, request, await deps.idempotency.find(scope))
}

/** Creates without a key: every request creates a separate invoice. */
export async function createInvoiceWithoutKey(
  deps: CreateOnceDeps,
  create: () => Promise<CreateInvoiceResult>,
  requestId: string,
): Promise<Answer> {
  const result = await create()
  if (result.outcome !== 'created')
    throw new Error('an insert without an idempotency key was refused because of its key')
  return createdAnswer(deps, result, requestId)
}
