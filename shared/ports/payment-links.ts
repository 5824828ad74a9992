import type { PaymentLink } from '#shared/db/payment-links/payment-link-model.ts'
import type { Ms, Visit } from '#shared/domain/invoice/model.ts'

export type { PaymentLink } from '#shared/db/payment-links/payment-link-model.ts'

/** Price of one payment through a link. */
export type LinkAmount = PaymentLink['amount']

/** The most uses that a limited link can have. */
export const LINK_USES_MAX = 1_000

/** The claim of a use, unique in the installation. */
export function linkUseOf(linkId: string, place: number): string {
  return `${linkId}:${place}`
}

/** A numbered use of a limited link, held by the invoice that was made with it. */
export interface LinkUse {
  /** 1 … the link's `usesMax` when the invoice was made: the limit may have been lowered since. */
  readonly place: number
  readonly invoiceId: string
  /** The invoice ended and no transfer reached it, or none that is still there: its use may be given to another payer. */
  readonly isUnpaid: boolean
  /** When the use of an open invoice without money returns at the earliest; null for all others. */
  readonly returnsAt: Ms | null
}

/** An invoice that has a place in the budget of its visitor's connection on a limited link. */
export interface LinkVisit extends Pick<Visit, 'repeats'> {
  readonly place: string
  readonly invoiceId: string
  readonly expiresAt: Ms
  /** When it ended without money that keeps a use; null until then, while the place cannot be another invoice's. */
  readonly endedAt: Ms | null
}

/** What an operator may change of an active link. Its invoices keep what they were made with. */
export type PaymentLinkChange = Required<
  Pick<PaymentLink, 'title' | 'description' | 'amount' | 'usesMax' | 'expiresAt'>
>
