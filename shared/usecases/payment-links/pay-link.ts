import { createHash } from 'node:crypto'
import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import { readFiatAmount } from '#shared/contracts/http/amount.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import type { Ms, Visit } from '#shared/domain/invoice/model.ts'
import { formatFiat } from '#shared/domain/money/money.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { InvoiceIdempotency } from '#shared/ports/invoices.ts'
import type { LinkVisit, PaymentLink } from '#shared/ports/payment-links.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { type CreateInvoiceDeps, createInvoice } from '#shared/usecases/invoices/create-invoice.ts'
import { freePlaceOf } from '#shared/usecases/quotes/place-leases.ts'
import { sourceDigits, sourceShare, type Visitor, visitorShare } from '#shared/usecases/quotes/visitor-budget.ts'

import { IDEMPOTENCY_WINDOW_MS } from '#shared/usecases/requests/idempotency-scope.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { requireOpenWorkspace } from '#shared/usecases/workspaces/require-open-workspace.ts'
import { LinkBusy } from './link-busy.ts'
import { freeUse, hasExpired, usesBusy } from './link-limits.ts'
import type { LinkQuota } from './link-quota.ts'

/** How long to search for the invoice after an insert was refused because it exists. */
const READ_BACK_MS = 5_000
const READ_BACK_PAUSE_MS = 20

/** Dependencies of paying through a link. */
export type PayLinkDeps = CreateInvoiceDeps &
  Uses<'invoices' | 'paymentLinks' | 'workspaces'> & {
    readonly linkQuota: LinkQuota
  }

/** The link, the amount and the browser action. */
export interface PayLinkInput {
  readonly linkId: string
  /** Plain decimal text; only if the payer chooses the amount. */
  readonly amount?: string | undefined
  /** Id of one browser action: repeating it within a day returns the same invoice. */
  readonly actionId: string
  readonly requestId: string
  readonly visitor: Visitor
  /** Called once before an invoice is created; throws when this payer created too many. */
  readonly admit: () => Promise<void>
}

/** The payer's invoice. */
export interface LinkInvoice {
  readonly id: string
  readonly status: InvoiceStatus
}

/**
 * Creates the invoice of one payer of a link, without an asset: no address is taken before the payer chooses one. A repetition
 * returns the first invoice, also when the link has ended since. Throws `NOT_FOUND`, `VALIDATION_ERROR` with path
 * `amount`, `INVALID_STATE` for an ended link, `LinkBusy` without a use for this payer, `IDEMPOTENCY_MISMATCH` for the same action with another amount, `PLAN_LIMIT_REACHED`
 * when links used their share of the plan, and every error of creating.
 */
export async function payLink(deps: PayLinkDeps, input: PayLinkInput): Promise<LinkInvoice> {
  const link = await deps.paymentLinks.findById(input.linkId)
  if (link === null) throw new PaymeshError('NOT_FOUND')
  const minor = readAmount(link, input.amount)
  const guard: InvoiceIdempotency = {
    // Cannot collide with an API key's header: headers hold no line breaks.
    key: `link\n${link.id}\n${input.actionId}`,
    fingerprint: createHash('sha256').update(`${link.id} ${minor}`).digest('hex'),
    requestId: input.requestId,
    at: deps.clock.now(),
  }
  const earlier = await findEarlier(deps, link, guard)
  if (earlier !== null) return earlier
  requireWithin(link, minor)
  if (link.status === 'inactive' || hasExpired(link, guard.at)) throw ended()
  const workspace = await requireOpenWorkspace(deps, link.workspaceId, true)
  await input.admit()
  return await deps.linkQuota.within(workspace, link.mode, async () => {
    await requireUnchanged(deps, link)
    return await createThrough(deps, { workspace, link, visitor: input.visitor }, minor, guard)
  })
}

/** The payer waited for a turn: meanwhile the merchant may have changed the price, or have ended the link. */
async function requireUnchanged({ paymentLinks, clock }: PayLinkDeps, link: PaymentLink): Promise<void> {
  const now = await paymentLinks.findById(link.id)
  if (now === null || now.status === 'inactive' || hasExpired(now, clock.now())) throw ended()
  if (now.updatedAt === link.updatedAt) return
  throw invalidState('This payment link was just changed. Reload the page and try again.')
}

const ended = (): PaymeshError => invalidState('This payment link is no longer active.')

async function createThrough(
  deps: PayLinkDeps,
  visitor: LinkVisitor,
  minor: bigint,
  guard: InvoiceIdempotency,
): Promise<LinkInvoice> {
  const { workspace, link } = visitor
  const { currency, title, productId, mode } = link
  const until = deps.clock.now() + READ_BACK_MS
  for (;;) {
    // Where nobody gets a use, it is no matter of the connection.
    const busy = await usesBusy(deps, link)
    if (busy !== null) throw busy
    // Before a use is taken from an ended invoice: a connection that has to wait must not do that.
    const visit = await visitPlaces(deps, visitor)
    const use = await freeUse(deps, link)
    const result = await createInvoice(deps, {
      workspace,
      mode,
      body: { amount: formatFiat(minor, currency), minor, currency, description: title },
      source: 'link',
      idempotency: guard,
      link: {
        id: link.id,
        productId,
        ...(use !== null && { use }),
        ...(visit !== null && { visit: { places: visit.places, repeats: visit.repeats } }),
      },
    })
    if (result.outcome === 'created') {
      for (const earlier of visit?.replaced ?? []) await deps.paymentLinks.releaseVisit(earlier)
      return { id: result.terms.id, status: result.snapshot.status }
    }
    // The other invoice may not be majority-committed yet.
    const found = await findEarlier(deps, link, guard)
    if (found !== null) return found
    if (deps.clock.now() >= until) throw new PaymeshError('IDEMPOTENCY_IN_PROGRESS')
    // Another payer took the same use or place: another one may be free.
    if (result.outcome === 'use_taken') continue
    await new Promise((resolve) => setTimeout(resolve, READ_BACK_PAUSE_MS))
  }
}

/** The amount due in minor units, which may be out of the link's bounds. */
function readAmount({ amount, currency }: PaymentLink, given: string | undefined): bigint {
  if (amount.kind === 'fixed') {
    if (given !== undefined) throw invalid([{ path: 'amount', message: 'is set by the merchant' }])
    return amount.minor
  }
  if (given === undefined) throw invalid([{ path: 'amount', message: 'is required' }])
  const read = readFiatAmount(given, currency, 'amount')
  if (!read.ok) throw invalid([read.detail])
  return read.minor
}

/** After the search for an earlier invoice: the bounds may have been changed since it was made. */
function requireWithin({ amount }: PaymentLink, minor: bigint): void {
  if (amount.kind === 'fixed') return
  const { minMinor, maxMinor } = amount
  if (minMinor !== null && minor < minMinor) throw invalid([{ path: 'amount', message: 'is below the minimum amount' }])
  if (maxMinor !== null && minor > maxMinor) throw invalid([{ path: 'amount', message: 'is above the maximum amount' }])
}

async function findEarlier(
  deps: PayLinkDeps,
  { workspaceId, mode, amount }: PaymentLink,
  guard: InvoiceIdempotency,
): Promise<LinkInvoice | null> {
  const found = await deps.invoices.findByIdempotencyKey(workspaceId, mode, guard.key)
  if (found === null) return null
  const { invoice, idempotency } = found
  if (idempotency.at + IDEMPOTENCY_WINDOW_MS <= deps.clock.now()) {
    await deps.invoices.releaseIdempotencyKey(invoice.terms.id, idempotency)
    return null
  }
  // Payers of a fixed amount send none, so that a repetition cannot differ; the merchant may have changed it since.
  const isSame = amount.kind === 'fixed' || idempotency.fingerprint === guard.fingerprint
  if (!isSame) throw new PaymeshError('IDEMPOTENCY_MISMATCH')
  return { id: invoice.terms.id, status: invoice.state.status }
}

/** Dependencies of finding places for a visitor's invoice. */
type VisitPlacesDeps = Uses<'paymentLinks' | 'invoices' | 'clock' | 'random'>

/** A payer at a link. */
interface LinkVisitor {
  readonly workspace: Workspace
  readonly link: PaymentLink
  readonly visitor: Visitor
}

/** Places for one insert, and the ended invoices that had them before. */
interface VisitPlaces extends Pick<Visit, 'places' | 'repeats'> {
  /** Their places are of no use once the insert is made. */
  readonly replaced: readonly LinkVisit[]
}

/** How many uses of a limited link one connection may hold unpaid; at least one. */
export function usesOfOne(usesMax: number): number {
  return Math.ceil((usesMax * SCARCE.linkUses.budget.percent) / 100)
}

/** How long a place stays with an invoice that ended without money, after `repeats` others before it: nothing the first time. */
export function waitAfter(repeats: number): Ms {
  const { waitFirstMs, waitMaxMs } = SCARCE.linkUses.budget
  return repeats === 0 ? 0 : Math.min(waitMaxMs, waitFirstMs * 2 ** (repeats - 1))
}

/**
 * The places that the next invoice of this connection takes in the link's uses and in the plan's month; null where neither is limited. Writes
 * nothing: the insert that carries a place claims it, and a loser asks again. Throws `LinkBusy` when the connection has as many unpaid uses
 * as it may have or has to wait after those that it let return, and `PLAN_LIMIT_REACHED` when it has its part of the plan.
 */
async function visitPlaces(deps: VisitPlacesDeps, visit: LinkVisitor): Promise<VisitPlaces | null> {
  const inPlan = await placeInPlan(deps, visit)
  const onLink = await placeOnLink(deps, visit)
  const planned = inPlan === null ? [] : [inPlan]
  if (onLink !== null) return { ...onLink, places: [...planned, ...onLink.places] }
  return inPlan === null ? null : { places: planned, repeats: 0, replaced: [] }
}

async function placeInPlan(deps: VisitPlacesDeps, { workspace, link, visitor }: LinkVisitor): Promise<string | null> {
  const limit = workspace.limits.invoicesPerMonth
  if (limit === null) return null
  const month = new Date(deps.clock.now()).toISOString().slice(0, 7)
  const scope = `plan:${workspace.id}:${link.mode}:${month}`
  const own = sourceShare(visitorShare(limit, workspace.policy))
  const place = await freePlaceOf(deps, `${scope}:${sourceDigits(scope, visitor)}`, own)
  if (typeof place === 'string') return place
  throw new PaymeshError('PLAN_LIMIT_REACHED', {
    message:
      'Your connection opened too many payments that were not paid. Pay one of them, or ask the merchant for another way to pay.',
    internal: `one connection made ${own} unpaid invoices of ${limit} this month`,
  })
}

/**
 * A place is `<prefix>:<slot>:<turn>`: a connection has a fixed number of slots, and each invoice in a slot takes the turn after the one
 * that ended in it. So of two requests that saw the same end one wins, and neither loses how often the slot was left unpaid.
 */
async function placeOnLink(
  deps: VisitPlacesDeps,
  { link: { id, usesMax }, visitor }: LinkVisitor,
): Promise<VisitPlaces | null> {
  if (usesMax === null) return null
  const at = deps.clock.now()
  const prefix = `use:${id}:${sourceDigits(id, visitor)}`
  const count = usesOfOne(usesMax)
  const visits = await deps.paymentLinks.visitsAt(prefix)
  // Also those in slots above a limit that was lowered.
  const open = visits.filter(({ endedAt }) => endedAt === null)
  if (open.length >= count) throw LinkBusy.ofConnection(earliest(open.map(({ expiresAt }) => expiresAt)) - at)
  const slots = Array.from({ length: count }, (_, slot) => ({
    slot,
    past: visits.filter(({ place }) => place.startsWith(`${prefix}:${slot}:`)).sort((a, b) => turnOf(a) - turnOf(b)),
  })).filter(({ past }) => past.at(-1)?.endedAt !== null)
  const best = slots.reduce((first, other) => (freeFrom(other.past) < freeFrom(first.past) ? other : first))
  if (freeFrom(best.past) > at) throw LinkBusy.ofConnection(freeFrom(best.past) - at)
  const last = best.past.at(-1)
  if (last === undefined) return { places: [`${prefix}:${best.slot}:0`], repeats: 0, replaced: [] }
  const isForgotten = at - (last.endedAt ?? at) >= SCARCE.linkUses.budget.forgottenAfterMs
  const repeats = isForgotten ? 0 : last.repeats + 1
  return { places: [`${prefix}:${best.slot}:${turnOf(last) + 1}`], repeats, replaced: best.past }
}

function turnOf({ place }: LinkVisit): number {
  return Number(place.slice(place.lastIndexOf(':') + 1))
}

/** When the next invoice may take a slot; 0 for one that was never taken. */
function freeFrom(past: readonly LinkVisit[]): Ms {
  const last = past.at(-1)
  return last === undefined ? 0 : (last.endedAt ?? 0) + waitAfter(last.repeats)
}

const earliest = (times: readonly Ms[]): Ms => times.reduce((left, right) => Math.min(left, right))
