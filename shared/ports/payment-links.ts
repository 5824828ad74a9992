import type { PaymentLink } from '#shared/db/payment-links/payment-link-model.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms, Visit } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { ProductQuery } from './workspace-page-query.ts'

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

export interface PaymentLinkRepository {
  /**
   * Stores a link, together with an audit row if one is given, or returns the one that already has the id; null when that
   * one cannot be read yet. With an audit row, throws `PLAN_LIMIT_REACHED` when the workspace has `most` active links of this mode already.
   */
  insert(link: PaymentLink, audit?: AuditRecord, most?: number | null): Promise<PaymentLink | null>
  findInWorkspace(workspaceId: string, mode: Mode, id: string): Promise<PaymentLink | null>
  /** For payers, who have only the link's id. */
  findById(id: string): Promise<PaymentLink | null>
  list(query: ProductQuery): Promise<readonly PaymentLink[]>
  /** Deactivates a link once and returns it; an inactive link is unchanged. Null when unknown. */
  deactivate(workspaceId: string, mode: Mode, id: string, at: Ms, audit?: AuditRecord): Promise<PaymentLink | null>
  /**
   * Changes an active link that was last changed at `version`, in one write with its audit row. False, and nothing is stored, when it was
   * changed since, is inactive or unknown, or when the action of this row ran before.
   */
  update(
    link: Pick<PaymentLink, 'workspaceId' | 'mode' | 'id'> & { readonly version: Ms },
    change: PaymentLinkChange,
    at: Ms,
    audit: AuditRecord,
  ): Promise<boolean>
  /** Active links of a workspace and mode, counted up to `max`. */
  countActive(workspaceId: string, mode: Mode, max: number): Promise<number>
  /**
   * Invoices made from each of these links; links without any are left out. Reads at most the invoices of the last 70 minutes before `at`
   * and a hundred for each link, except for the first time.
   */
  countUses(ids: readonly string[], at: Ms): Promise<ReadonlyMap<string, number>>
  /** The uses of a limited link that invoices hold. */
  usesHeld(linkId: string): Promise<readonly LinkUse[]>
  /**
   * Takes a use from an invoice that ended without any transfer, so that late money does not settle it automatically any more; false when it
   * holds the use no more, or is not such an invoice.
   */
  releaseUse(linkId: string, use: Pick<LinkUse, 'place' | 'invoiceId'>): Promise<boolean>
  /** The invoices that have a place `<prefix>:…`, at most as many as a link can have uses. */
  visitsAt(prefix: string): Promise<readonly LinkVisit[]>
  /** Takes a place from an invoice that ended; false when it has the place no more, or changes meanwhile. */
  releaseVisit(visit: Pick<LinkVisit, 'place' | 'invoiceId'>): Promise<boolean>
}
