import type { PaymentLinkRepository } from '#shared/db/payment-links/payment-link-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type LinkUse, linkUseOf, type PaymentLink } from '#shared/ports/payment-links.ts'
import type { Clock } from '#shared/ports/runtime.ts'
import { LinkBusy } from './link-busy.ts'

/** Whether no invoice may be made from the link at this time any more. */
export function hasExpired({ expiresAt = null }: Pick<PaymentLink, 'expiresAt'>, at: Ms): boolean {
  return expiresAt !== null && at >= expiresAt
}

/**
 * The lowest place that no invoice holds; null when as many are held as the link has. Invoices made before the limit was lowered may hold
 * places above it: as everyone claims the lowest place, they never make the sum exceed the limit (decision 10).
 */
export function freePlace(usesMax: number, held: readonly Pick<LinkUse, 'place'>[]): number | null {
  if (held.length >= usesMax) return null
  const taken = new Set(held.map(({ place }) => place))
  for (let place = 1; place <= usesMax; place += 1) if (!taken.has(place)) return place
  return null
}

/** Uses that payers cannot get: those held, without those of invoices that ended without any transfer. */
export function usesTaken(held: readonly Pick<LinkUse, 'isUnpaid'>[]): number {
  return held.filter(({ isUnpaid }) => !isUnpaid).length
}

/** Why a payer would get no use now; null when one is free, or held by an invoice that ended without any transfer. */
export async function usesBusy(
  { paymentLinks, clock }: { readonly paymentLinks: Pick<PaymentLinkRepository, 'usesHeld'>; readonly clock: Clock },
  { id, usesMax }: PaymentLink,
): Promise<LinkBusy | null> {
  if (usesMax === null) return null
  const held = await paymentLinks.usesHeld(id)
  return usesTaken(held) < usesMax ? null : LinkBusy.ofEverybody(untilReturn(held, clock.now()))
}

/**
 * A use for the next invoice, which its insert claims; null for a link without a limit. With every use held, one is taken from an invoice
 * that ended without any transfer. Throws `LinkBusy` when none is left.
 */
export async function freeUse(
  deps: {
    readonly paymentLinks: Pick<PaymentLinkRepository, 'usesHeld' | 'releaseUse'>
    readonly clock: Clock
  },
  { id, usesMax }: PaymentLink,
): Promise<string | null> {
  if (usesMax === null) return null
  for (;;) {
    const held = await deps.paymentLinks.usesHeld(id)
    const place = freePlace(usesMax, held)
    if (place !== null) return linkUseOf(id, place)
    if (usesTaken(held) >= usesMax || !(await releaseOne(deps.paymentLinks, id, held)))
      throw LinkBusy.ofEverybody(untilReturn(held, deps.clock.now()))
    // Read again: the place that came free may be above a limit that was lowered.
  }
}

function untilReturn(held: readonly LinkUse[], at: Ms): Ms | null {
  const times = held.map(({ returnsAt }) => returnsAt).filter((time) => time !== null)
  return times.length === 0 ? null : Math.min(...times) - at
}

async function releaseOne(
  paymentLinks: Pick<PaymentLinkRepository, 'releaseUse'>,
  linkId: string,
  held: readonly LinkUse[],
): Promise<boolean> {
  for (const use of held) if (use.isUnpaid && (await paymentLinks.releaseUse(linkId, use))) return true
  return false
}
