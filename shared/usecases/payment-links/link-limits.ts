import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { type LinkUse, linkUseOf, type PaymentLink, type PaymentLinkRepository } from '#shared/ports/payment-links.ts'

/** Whether no invoice may be made from the link at this time any more. */
export function hasExpired({ expiresAt = null }: Pick<PaymentLink, 'expiresAt'>, at: Ms): boolean {
  return expiresAt !== null && at >= expiresAt
}

/** The lowest place that no invoice holds; null when all are held. */
export function freePlace(usesMax: number, held: readonly Pick<LinkUse, 'place'>[]): number | null {
  const taken = new Set(held.map(({ place }) => place))
  for (let place = 1; place <= usesMax; place += 1) if (!taken.has(place)) return place
  return null
}

/** Whether a payer would get a use now: one is free, or an invoice that ended without any transfer holds one. */
export async function hasUse(
  { paymentLinks }: { readonly paymentLinks: Pick<PaymentLinkRepository, 'usesHeld'> },
  { id, usesMax = null }: PaymentLink,
): Promise<boolean> {
  if (usesMax === null) return true
  const held = await paymentLinks.usesHeld(id)
  return freePlace(usesMax, held) !== null || held.some(({ isUnpaid }) => isUnpaid)
}

/**
 * A use for the next invoice, which its insert claims; null for a link without a limit. With every use held, one is taken from an invoice
 * that ended without any transfer. Throws `INVALID_STATE` when none is left.
 */
export async function freeUse(
  { paymentLinks }: { readonly paymentLinks: Pick<PaymentLinkRepository, 'usesHeld' | 'releaseUse'> },
  { id, usesMax = null }: PaymentLink,
): Promise<string | null> {
  if (usesMax === null) return null
  const held = await paymentLinks.usesHeld(id)
  const place = freePlace(usesMax, held)
  if (place !== null) return linkUseOf(id, place)
  for (const use of held.filter(({ isUnpaid }) => isUnpaid)) {
    if (await paymentLinks.releaseUse(id, use)) return linkUseOf(id, use.place)
  }
  throw new PaymeshError('INVALID_STATE', { message: 'Every use of this payment link is taken.' })
}
