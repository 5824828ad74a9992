import type mongoose from 'mongoose'
import type { InvoiceStatus } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { heldFor } from '#shared/domain/invoice/quote-window.ts'
import type { InvoiceDocument } from './invoice-model.ts'
import { holdingClaims } from './invoice-scopes.ts'

/** Money, or its confirmation, is still expected. */
const WAITING: readonly InvoiceStatus[] = ['new', 'pending', 'partial', 'confirming']

/**
 * Those of these claims whose invoice is over and, at a time, waits for late money no more: nothing of it changed, and no quote of it was
 * valid, for the longest time in which late money may settle it, at least a day.
 */
export async function claimsCold(
  invoices: mongoose.mongo.Collection<InvoiceDocument>,
  claims: readonly string[],
  at: Ms,
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set()
  const projection = { _id: 0, claims: 1, expiresAt: 1, updatedAt: 1, paymentMethods: 1 } as const
  const found = await invoices
    .find({ ...holdingClaims(claims), status: { $nin: [...WAITING] } }, { projection })
    .toArray()
  const cold = new Set(found.flatMap((row) => (lateWatchEndsAt(row) <= at ? (row.claims ?? []) : [])))
  return new Set(claims.filter((claim) => cold.has(claim)))
}

function lateWatchEndsAt({
  expiresAt,
  updatedAt,
  paymentMethods,
}: Pick<InvoiceDocument, 'expiresAt' | 'updatedAt' | 'paymentMethods'>): Ms {
  const quoted = paymentMethods.flatMap(({ quotes }) => quotes.map((quote) => quote.expiresAt.getTime()))
  const graces = paymentMethods.map(({ policy }) => policy.lateGraceMs)
  return Math.max(expiresAt.getTime(), updatedAt.getTime(), ...quoted) + heldFor(Math.max(0, ...graces))
}
