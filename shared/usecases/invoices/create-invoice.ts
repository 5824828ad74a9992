import { PaymeshError } from '#shared/contracts/errors.ts'
import { successEnvelope } from '#shared/contracts/http/envelope.ts'
import type { InvoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import type { IdempotencyRecord } from '#shared/db/requests/idempotency-model.ts'
import { ASSET_IDS, type FiatCode, type Mode } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import type { Attribution } from '#shared/domain/invoice/invoice-event.ts'
import type { InvoiceTerms, Ms, ReportingRate, Visit } from '#shared/domain/invoice/model.ts'
import { openInvoice } from '#shared/domain/invoice/open-invoice.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { Answer } from '#shared/ports/answer.ts'
import { type Invoice, type InvoiceIdempotency, type InvoiceSnapshot, outboxJobId } from '#shared/ports/invoices.ts'
import type { Admission } from '#shared/ports/rate-limit.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import type { PreparedPaymentMethod, QuotePreparer } from '#shared/usecases/quotes/prepare-quote.ts'
import { requirePayable } from '#shared/usecases/quotes/require-payable.ts'
import { IDEMPOTENCY_WINDOW_MS, isReplayable } from '#shared/usecases/requests/idempotency-scope.ts'
import { runOnce } from '#shared/usecases/requests/run-once.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'
import { outboxEntries } from './apply-invoice-event.ts'
import type { InvoiceNumbers } from './invoice-numbers.ts'
import { type PublicUrls, presentInvoice, snapshotInvoice } from './present-invoice.ts'

/** Refused inserts in a row that indicate a fault; each one means that another request succeeded. */
const ATTEMPTS_MAX = 60

/** Dependencies of creating an invoice. */
export type CreateInvoiceDeps = Runtime &
  Uses<'invoices' | 'counts' | 'notifier' | 'rates' | 'catalog'> & {
    readonly numbers: InvoiceNumbers
    readonly paymentMethods: QuotePreparer
  }

/** A validated request for an invoice. */
export interface CreateInvoiceInput {
  readonly workspace: Workspace
  readonly mode: Mode
  readonly body: InvoiceCreateBody
  readonly source: InvoiceTerms['source']
  readonly idempotency: InvoiceIdempotency | null
  /** The operator who creates it; absent for API calls. */
  readonly attribution?: Attribution
  /** The payment link it is created through, and the link's product. */
  readonly link?: {
    readonly id: string
    readonly productId: string | null
    /** The use of a limited link that it claims (`linkUseOf`), and places in the budgets of its visitor's connection. */
    readonly use?: string
    readonly visit?: Pick<Visit, 'places' | 'repeats'>
  }
}

/** `key_taken`: an invoice already carries the idempotency key and nothing was created. */
type CreateInvoiceResult =
  | { readonly outcome: 'created'; readonly terms: InvoiceTerms; readonly snapshot: InvoiceSnapshot }
  | { readonly outcome: 'key_taken' }
  /** Another invoice holds the link's use, or a place of the visit. */
  | { readonly outcome: 'use_taken' }

/**
 * Creates an invoice by exactly one insert that carries its state, its events, its address claim and its idempotency
 * guard; then wakes the relay. Throws `WORKSPACE_SUSPENDED`, `WORKSPACE_RESTRICTED`, `PLAN_LIMIT_REACHED`, `UNSUPPORTED_ASSET`,
 * `NO_WALLET_FOR_ASSET`, `AMOUNT_BELOW_MINIMUM` (without an asset: below the minimum of each), `VALIDATION_ERROR` for more than the asset's chain can carry, or `RATES_UNAVAILABLE`.
 */
export async function createInvoice(deps: CreateInvoiceDeps, input: CreateInvoiceInput): Promise<CreateInvoiceResult> {
  const { workspace, mode, body } = input
  requireStatus(workspace, 'active')
  await requireQuota(deps, workspace, mode)
  // Taken at the same moment: lists are sorted by id and show `created_at`.
  const id = deps.random.uuid()
  const createdAt = deps.clock.now()
  const plan = lifeOf(input, createdAt)
  let prepared = await prepareQuote(deps, input, createdAt, plan.expiresAt)
  const reporting = await reportingRate(deps, workspace, body.currency)
  let terms = termsOf(input, { id, createdAt, number: await deps.numbers.take(workspace.id, mode), reporting })

  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { state, effects } = openInvoice({
      mode,
      createdAt,
      ...plan,
      paymentMethod: prepared?.paymentMethod ?? null,
      ...(input.attribution !== undefined && { attribution: input.attribution }),
    })
    const outbox = outboxEntries({ id: terms.id, catalog: deps.catalog }, state, effects)
    const result = await deps.invoices.insert({
      ...{ terms, state, outbox, idempotency: input.idempotency, opId: null },
      ...(input.link?.use !== undefined && { linkUse: input.link.use }),
    })
    if (result.inserted) {
      deps.notifier.notify(QUEUES.outbox, outboxJobId(terms.id))
      return { outcome: 'created', terms, snapshot: outbox[0]?.snapshot ?? snapshotInvoice(deps.catalog, state) }
    }
    if (result.conflict === 'idempotency_key') return { outcome: 'key_taken' }
    if (result.conflict === 'link_use' || result.conflict === 'draws') return { outcome: 'use_taken' }
    deps.metrics.count('invoice_insert_conflict_total', { index: result.conflict })
    if (result.conflict === 'claims') prepared = (await prepared?.next()) ?? null
    if (result.conflict === 'id') terms = { ...terms, id: deps.random.uuid() }
    if (result.conflict === 'number') {
      deps.numbers.conflicted(workspace.id, mode, terms.number)
      terms = { ...terms, number: await deps.numbers.take(workspace.id, mode) }
    }
  }
  throw new Error(`no invoice could be inserted in ${ATTEMPTS_MAX} attempts`)
}

/** The plan's invoices per calendar month (UTC) and mode; concurrent requests may exceed it by their number. */
async function requireQuota(deps: CreateInvoiceDeps, workspace: Workspace, mode: Mode): Promise<void> {
  const limit = workspace.limits.invoicesPerMonth
  if (limit === null) return
  const { all } = await deps.counts.inMonth({ workspaceId: workspace.id, mode, at: deps.clock.now() }, limit)
  if (all >= limit) throw new PaymeshError('PLAN_LIMIT_REACHED', { internal: `${all} of ${limit} invoices this month` })
}

/**
 * With an asset the quote lasts as long as the invoice; without one the invoice waits for the payer's choice, and for minutes only while
 * it keeps the use of a limited link from others.
 */
function lifeOf({ workspace, body, link }: CreateInvoiceInput, createdAt: Ms) {
  const { newLifeMs, quoteMs } = workspace.policy
  const { choiceMs, quotesMax } = SCARCE.linkUses.budget
  const isLimited = link?.use !== undefined
  const unpicked = isLimited ? Math.min(newLifeMs, choiceMs) : newLifeMs
  const life = body.asset === undefined ? unpicked : quoteMs
  const quotesUntil = isLimited ? createdAt + choiceMs + (quotesMax - 1) * quoteMs : null
  return {
    expiresAt: createdAt + (body.expires_in === undefined ? life : body.expires_in * 1_000),
    endsWithQuote: body.expires_in === undefined,
    ...(link?.visit !== undefined && {
      visit: { places: link.visit.places, repeats: link.visit.repeats, quotesUntil },
    }),
  }
}

async function prepareQuote(
  deps: CreateInvoiceDeps,
  { workspace, mode, body }: CreateInvoiceInput,
  at: Ms,
  quoteEndsAt: Ms,
): Promise<PreparedPaymentMethod | null> {
  if (body.asset === undefined) {
    await requirePayable(deps, workspace, fiatOf(body))
    return null
  }
  const asset = ASSET_IDS.find((id) => id === body.asset)
  if (asset === undefined) {
    throw new PaymeshError('UNSUPPORTED_ASSET', { details: [{ path: 'asset', message: 'is not a supported asset' }] })
  }
  return deps.paymentMethods.prepare({ workspace, mode, asset, fiat: fiatOf(body), at, quoteEndsAt })
}

/** A rate that is not known now stays unknown: reports say so, and the invoice is created all the same. */
async function reportingRate(
  { rates }: Pick<CreateInvoiceDeps, 'rates'>,
  { policy }: Workspace,
  from: FiatCode,
): Promise<ReportingRate | null> {
  const { reportingCurrency: currency, arsSeries } = policy
  if (currency === from) return null
  const known = await rates.fiatRate({ from, to: currency, arsSeries })
  return known === null ? null : { currency, rate: known.rate, at: known.snapshotAt }
}

function fiatOf(body: InvoiceCreateBody): InvoiceTerms['fiat'] {
  return { minor: body.minor, currency: body.currency }
}

function termsOf(
  { workspace, mode, body, source, link }: CreateInvoiceInput,
  {
    id,
    createdAt,
    number,
    reporting,
  }: Pick<InvoiceTerms, 'id' | 'createdAt' | 'number'> & {
    readonly reporting: ReportingRate | null
  },
): InvoiceTerms {
  return {
    id,
    workspaceId: workspace.id,
    mode,
    number,
    description: body.description ?? null,
    orderId: body.order_id ?? null,
    metadata: body.metadata ?? {},
    fiat: fiatOf(body),
    ...(reporting !== null && { reporting }),
    customer: { email: body.customer?.email ?? null, name: body.customer?.name ?? null },
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    paymentLinkId: link?.id ?? null,
    productId: link?.productId ?? null,
    source,
    createdAt,
  }
}

/** How long to search for the invoice after an insert was refused because it exists. */
const READ_BACK_MS = 5_000
const READ_BACK_PAUSE_MS = 20

/** Dependencies of creating an invoice under an idempotency key. */
export type CreateOnceDeps = CreateInvoiceDeps &
  Uses<'invoices' | 'events' | 'idempotency' | 'secretBox' | 'after'> & {
    /** Reads a stored refusal; concurrent requests share one read. */
    readonly findRefusal: (scope: string) => Promise<IdempotencyRecord | null>
    readonly urls: PublicUrls
  }

/** A request of the API. */
interface CreateRequest extends Pick<CreateInvoiceInput, 'workspace' | 'mode'> {
  readonly requestId: string
  /** Its idempotency key, and the mark of its run: `busy` is that of another request with the key. */
  readonly once:
    | (Pick<InvoiceIdempotency, 'key' | 'fingerprint'> & Pick<Admission, 'marker'> & { readonly scope: string })
    | null
  /** Checks the workspace and validates the body; called when no earlier response is found. */
  readonly read: () => Promise<Pick<CreateInvoiceInput, 'body'>>
}

/** A request with a key. */
interface KeyedRequest extends CreateRequest {
  readonly scope: string
  readonly guard: InvoiceIdempotency
}

/**
 * Creates an invoice for each request without a key. With one, at most one per key and window, and repeats the first response byte for byte. The invoice itself is the
 * guard: its unique index decides between concurrent requests, whatever Redis holds. Business refusals are
 * stored separately and apply only while no invoice carries the key. Throws `IDEMPOTENCY_MISMATCH` and `IDEMPOTENCY_IN_PROGRESS`.
 */
export async function createInvoiceOnce(deps: CreateOnceDeps, request: CreateRequest): Promise<Answer> {
  const { once, requestId } = request
  if (once === null) {
    const answer = await createdAnswer(deps, request, null)
    if (answer === null) throw new Error('an insert without an idempotency key was refused because of its key')
    return answer
  }
  const { key, fingerprint, scope, marker } = once
  const keyed = { ...request, scope, guard: { key, fingerprint, requestId, at: deps.clock.now() } }
  const refusal = await deps.findRefusal(scope)
  const isHeld = refusal !== null && refusal.response === null && refusal.leaseUntil > deps.clock.now()
  const isRunning = marker === 'busy' || isHeld
  if (isRunning || refusal !== null) {
    const earlier = (await replayInvoice(deps, keyed)) ?? replayRefusal(deps, keyed, refusal)
    if (earlier !== null) return earlier
    if (isRunning) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
  }
  const row = { scope, fingerprint, requestId }
  // Where no mark of Redis keeps a second request out, the row of the key does: a refusal of one and an invoice of the other would let the
  // next attempt of the order begin while that invoice is open.
  if (marker !== 'set') return runOnce(deps, row, () => createOrReplay(deps, keyed))
  try {
    return await createOrReplay(deps, keyed)
  } catch (error) {
    if (!isReplayable(error)) throw error
    return await runOnce(deps, row, () => Promise.reject(error))
  }
}

/** The response of a new invoice; null when another one carries the key. */
async function createdAnswer(
  deps: CreateOnceDeps,
  { workspace, mode, read, requestId }: CreateRequest,
  idempotency: InvoiceIdempotency | null,
): Promise<Answer | null> {
  const { body } = await read()
  const created = await createInvoice(deps, { workspace, mode, body, source: 'api', idempotency })
  if (created.outcome !== 'created') return null
  const resource = presentInvoice(created.terms, created.snapshot, deps.urls)
  return { status: 201, body: successEnvelope(JSON.stringify(resource), null, requestId), replayed: false }
}

async function createOrReplay(deps: CreateOnceDeps, request: KeyedRequest): Promise<Answer> {
  const until = deps.clock.now() + READ_BACK_MS
  for (;;) {
    const created = await createdAnswer(deps, request, request.guard).catch((error: unknown) => ({ error }))
    if (created !== null && !('error' in created)) return created
    // A create that used the last quota, or whose workspace was restricted since, must still replay.
    const earlier = await replayInvoice(deps, request)
    if (earlier !== null) return earlier
    if (created !== null) throw created.error
    // The other invoice may not be majority-committed yet, or its key was just released because it is too old.
    if (deps.clock.now() >= until) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
    await new Promise((resolve) => setTimeout(resolve, READ_BACK_PAUSE_MS))
  }
}

/** The creation response of the invoice that carries the key; null when there is none (any more). */
async function replayInvoice(deps: CreateOnceDeps, request: KeyedRequest): Promise<Answer | null> {
  const { workspace, mode, guard } = request
  const found = await deps.invoices.findByIdempotencyKey(workspace.id, mode, guard.key)
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

function replayRefusal(deps: CreateOnceDeps, request: KeyedRequest, refusal: IdempotencyRecord | null): Answer | null {
  if (refusal === null || refusal.response === null) return null
  if (refusal.createdAt + IDEMPOTENCY_WINDOW_MS <= deps.clock.now()) return null
  if (refusal.fingerprint !== request.guard.fingerprint) throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  const { status, body } = refusal.response
  return { status, body: deps.secretBox.open(body, request.scope), replayed: true }
}
