import { DATE, defineCollection, OWNED_FIELDS, optional, TEXT } from '#shared/db/connection/collection-model.ts'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import type { PaymentLink } from '#shared/ports/payment-links.ts'

/** Invoices of a link with an id below `through`; all of them were stored when they were counted. */
export interface CountedUses {
  /** A bound of ids, in the order of time. */
  readonly through: string
  readonly uses: number
}

/** A stored payment link; amounts are decimal strings of minor units. */
export type PaymentLinkDocument = Omit<
  PaymentLink,
  'id' | 'amount' | 'createdAt' | 'updatedAt' | 'deactivatedAt' | 'expiresAt'
> & {
  _id: string
  amount: { kind: 'fixed'; minor: string } | { kind: 'custom'; minMinor: string | null; maxMinor: string | null }
  createdAt: Date
  updatedAt: Date
  deactivatedAt: Date | null
  expiresAt: Date | null
  /** Of a link with many invoices, from the first time that they are counted. */
  counted?: CountedUses
}

/** The payment_links collection. */
export const PAYMENT_LINKS = defineCollection<PaymentLinkDocument>(
  'payment_links',
  {
    _id: TEXT,
    ...OWNED_FIELDS,
    status: { type: String, enum: ['active', 'inactive'], required: true },
    title: TEXT,
    description: optional(String),
    currency: { type: String, enum: FIAT_CODES, required: true },
    amount: {
      kind: { type: String, enum: ['fixed', 'custom'], required: true },
      minor: optional(String),
      minMinor: optional(String),
      maxMinor: optional(String),
    },
    productId: optional(String),
    usesMax: optional(Number),
    expiresAt: optional(Date),
    counted: { through: optional(String), uses: optional(Number) },
    createdAt: DATE,
    updatedAt: DATE,
    deactivatedAt: optional(Date),
  },
  [
    { name: 'payment_link_list', key: { workspaceId: 1, mode: 1, _id: -1 } },
    {
      // Counted on each create, for the plan limit.
      name: 'payment_link_active',
      key: { workspaceId: 1, mode: 1, status: 1 },
      partialFilterExpression: { status: 'active' },
    },
  ],
)
