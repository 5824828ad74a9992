import { z } from 'zod'
import { defineCollection, type RecordOf, type StoredOf } from '#shared/db/connection/collection-model.ts'
import { AMOUNT, OWNED_FIELDS, TIME } from '#shared/db/connection/stored-fields.ts'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'

/** The payment_links collection. */
export const PAYMENT_LINKS = defineCollection(
  'payment_links',
  {
    _id: z.string(),
    ...OWNED_FIELDS,
    status: z.enum(['active', 'inactive']),
    title: z.string(),
    description: z.string().nullable(),
    currency: z.enum(FIAT_CODES),
    /** Price of one payment: set by the merchant, or chosen by the payer within bounds. Minor units, above zero. */
    amount: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('fixed'), minor: AMOUNT }),
      z.object({ kind: z.literal('custom'), minMinor: AMOUNT.nullable(), maxMinor: AMOUNT.nullable() }),
    ]),
    /** The product that title, price and currency were copied from. */
    productId: z.string().nullable(),
    /** Invoices that may be made from it and count; null = any number. */
    usesMax: z.number().nullable(),
    /** No invoice is made from then on; null = no end. */
    expiresAt: TIME.nullable(),
    /** Of a link with many invoices, from the first time that they are counted: those with an id below `through`, all of which were stored then. */
    counted: z.object({ through: z.string(), uses: z.number() }).exactOptional(),
    createdAt: TIME,
    updatedAt: TIME,
    deactivatedAt: TIME.nullable(),
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
  { hidden: ['counted'] },
)

/** A stored payment link. */
export type PaymentLinkDocument = StoredOf<typeof PAYMENT_LINKS>

/** What a link stores of the number of its invoices. */
export type CountedUses = Readonly<NonNullable<PaymentLinkDocument['counted']>>

/** A page that anyone may open to get an invoice. */
export type PaymentLink = RecordOf<typeof PAYMENT_LINKS>
