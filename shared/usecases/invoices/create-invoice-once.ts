import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope, successEnvelope } from '#shared/contracts/http/envelope.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { EventRepository } from '#shared/ports/events.ts'
import type { Answer } from '#shared/ports/http-response.ts'
import type { IdempotencyRecord, IdempotencyRepository } from '#shared/ports/idempotency.ts'
import type { Invoice, InvoiceIdempotency, InvoiceRepository } from '#shared/ports/invoices.ts'
import { IDEMPOTENCY_WINDOW_MS, isReplayable } from '#shared/usecases/requests/idempotency-scope.ts'
import type { CreateInvoiceDeps, CreateInvoiceResult } from './create-invoice.ts'
import { type PublicUrls, presentInvoice } from './present-invoice.ts'

/** How long to look for the invoice that a refused insert proved to exist. */
const READ_BACK_MS = 5_000
const READ_BACK_PAUSE_MS = 20
/** A stored refusal needs no lease; it is written in one go. */
const REFUSAL_LEASE_MS = 10_000

/** What creating an invoice under an idempotency key needs. */
export interface CreateOnceDeps extends CreateInvoiceDeps {
  readonly invoices: Pick<
    InvoiceRepository,
    'insert' | 'countCreatedSince' | 'findByIdempotencyKey' | 'releaseIdempotencyKey'
  >
  readonly events: Pick<EventRepository, 'findByIds'>
  readonly idempotency: Pick<IdempotencyRepository, 'begin' | 'finish'>
  /** Looks up a stored refusal; many requests share one read. */
  readonly findRefusal: (scope: string) => Promise<IdempotencyRecord | null>
  readonly urls: PublicUrls
}

/** One keyed request. */
export interface KeyedCreate {
  readonly workspaceId: string
  readonly mode: 'live' | 'test'
  readonly scope: string
  readonly guard: InvoiceIdempotency
  /** Another request with this key seems to be running. */
  readonly busy: boolean
  /** Judges and creates; `createInvoice` with everything that comes before it. */
  readonly create: () => Promise<CreateInvoiceResult>
}

/** The answer of a fresh creation, keyed or not. */
export function createdAnswer(
  deps: Pick<CreateOnceDeps, 'urls'>,
  created: Extract<CreateInvoiceResult, { outcome: 'created' }>,
  requestId: string,
): Answer {
  const resource = presentInvoice(created.terms, created.snapshot, deps.urls)
  return { status: 201, body: successEnvelope(JSON.stringify(resource), null, requestId), replayed: false }
}

/**
 * Creates at most one invoice per key and window, and repeats the first answer byte for byte. The invoice itself is the
 * guard: its unique index decides between concurrent requests, whatever Redis remembers. Business refusals are
 * stored apart and count only while no invoice carries the key. Throws `IDEMPOTENCY_MISMATCH` and `IDEMPOTENCY_IN_PROGRESS`.
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
    if (isReplayable(error)) await storeRefusal(deps, request, error)
    throw error
  }
}

async function createOrReplay(deps: CreateOnceDeps, request: KeyedCreate): Promise<Answer> {
  const until = deps.clock.now() + READ_BACK_MS
  for (;;) {
    const result = await request.create()
    if (result.outcome === 'created') return createdAnswer(deps, result, request.guard.requestId)
    // The other invoice may not be majority-committed yet, or its key was just released for being too old.
    const earlier = await replayInvoice(deps, request)
    if (earlier !== null) return earlier
    if (deps.clock.now() >= until) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
    await new Promise((resolve) => setTimeout(resolve, READ_BACK_PAUSE_MS))
  }
}

/** The creation answer of the invoice that carries the key; null when none does (any more). */
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

/** The invoice as the first answer showed it: from its first outbox entry, or from the event that the relay made of it. */
async function creationJson(deps: CreateOnceDeps, invoice: Invoice): Promise<string> {
  const entry = invoice.outbox.find(({ seq }) => seq === 1)
  if (entry !== undefined) return JSON.stringify(presentInvoice(invoice.terms, entry.snapshot, deps.urls))
  const id = eventId(invoice.terms.id, 1)
  const event = (await deps.events.findByIds([id])).get(id)
  if (event === undefined) throw new Error(`the creation event of invoice ${invoice.terms.id} is gone`)
  const body = JSON.parse(Buffer.from(event.body).toString('utf8')) as { data: { object: object } }
  // Who was erased since is not named again; otherwise these are the same two values.
  return JSON.stringify({ ...body.data.object, customer: invoice.terms.customer })
}

function replayRefusal(deps: CreateOnceDeps, request: KeyedCreate, refusal: IdempotencyRecord | null): Answer | null {
  if (refusal === null || refusal.response === null) return null
  if (refusal.createdAt + IDEMPOTENCY_WINDOW_MS <= deps.clock.now()) return null
  if (refusal.fingerprint !== request.guard.fingerprint) throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  return { ...refusal.response, replayed: true }
}

async function storeRefusal(deps: CreateOnceDeps, request: KeyedCreate, error: PaymeshError): Promise<void> {
  const { scope, guard } = request
  const begun = await deps.idempotency.begin(scope, guard.fingerprint, guard.requestId, guard.at, REFUSAL_LEASE_MS)
  if (begun.outcome !== 'begun' && begun.outcome !== 'resumed') return
  const body = errorEnvelope(error, guard.requestId)
  await deps.idempotency.finish(scope, begun.fencingToken, { status: error.status, body })
}

/** Creates without a key: every request makes an invoice of its own. */
export async function createInvoiceUnkeyed(
  deps: CreateOnceDeps,
  create: () => Promise<CreateInvoiceResult>,
  requestId: string,
): Promise<Answer> {
  const result = await create()
  if (result.outcome !== 'created') throw new Error('a create without a key cannot find its key taken')
  return createdAnswer(deps, result, requestId)
}
