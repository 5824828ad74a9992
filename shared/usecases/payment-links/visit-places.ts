import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms, Visit } from '#shared/domain/invoice/model.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { LinkVisit, PaymentLink } from '#shared/ports/payment-links.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { freePlaceOf } from '#shared/usecases/quotes/place-leases.ts'
import { sourceDigits, sourceShare, type Visitor, visitorShare } from '#shared/usecases/quotes/visitor-budget.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { LinkBusy } from './link-busy.ts'

/** Dependencies of finding places for a visitor's invoice. */
export type VisitPlacesDeps = Uses<'paymentLinks' | 'invoices' | 'clock' | 'random'>

/** A payer at a link. */
export interface LinkVisitor {
  readonly workspace: Workspace
  readonly link: PaymentLink
  readonly visitor: Visitor
}

/** Places for one insert, and the ended invoices that had them before. */
export interface VisitPlaces extends Pick<Visit, 'places' | 'repeats'> {
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
export async function visitPlaces(deps: VisitPlacesDeps, visit: LinkVisitor): Promise<VisitPlaces | null> {
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
