import type mongoose from 'mongoose'
import { undisputedDetail } from '#shared/contracts/exception-labels.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { EXCEPTIONS, type ExceptionDocument } from '#shared/db/exceptions/exception-model.ts'
import { keyFiltersNow } from '#shared/db/payments/payment-keys.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { ProofWrite } from '#shared/ports/ownership.ts'
import { ADDRESSES } from './wallet-models.ts'

type Session = mongoose.mongo.ClientSession

/**
 * Moves open exceptions about unmatched money on the proved addresses from displaced workspaces to the
 * prover, within the transaction of the proof. Their exceptions close automatically; exceptions that a person decided are unchanged,
 * and so is money that an invoice holds. The prover's exceptions reveal nothing about the others' invoices.
 */
export async function moveInboxRows(db: Database, proof: ProofWrite, session: Session): Promise<void> {
  const { displaced, mode, workspaceId, provedAt } = proof
  if (displaced.length === 0) return
  const exceptions = db.collection(EXCEPTIONS)
  const losing = { workspaceId: { $in: displaced.map((use) => use.workspaceId) }, mode }
  const open = await exceptions
    .find({ ...losing, kind: 'unmatched', open: true, invoiceId: null, deciding: { $exists: false } }, { session })
    .toArray()
  const covered = await coveredKeys(db, proof, open, session)
  const moved = open.filter(({ paymentKey }) => paymentKey !== null && covered.has(paymentKey))
  if (moved.length === 0) return
  const at = toDate(provedAt)
  const closed = { open: false, closedAt: at, closedByItself: true }
  await exceptions.updateMany({ _id: { $in: moved.map(({ _id }) => _id) } }, { $set: closed }, { session })
  const own = moved.map(({ paymentKey, kind, detail }) => {
    const about = { kind, mode, workspaceId, invoiceId: null, paymentKey, detail: undisputedDetail(detail) }
    return { _id: `unmatched:${paymentKey}:${workspaceId}`, about }
  })
  await exceptions.bulkWrite(
    own.flatMap(({ _id, about }) => [
      {
        updateOne: {
          filter: { _id },
          update: { $setOnInsert: { ...about, openedAt: at, open: true, closedAt: null } },
          upsert: true,
        },
      },
      {
        updateOne: {
          filter: { _id, closedByItself: true },
          update: { $set: { open: true, closedAt: null }, $unset: { closedByItself: '' as const } },
        },
      },
    ]),
    { ordered: true, session },
  )
}

/** Of the payments named in exceptions, the unmatched ones on the proved addresses, or on any address of the proved key. */
async function coveredKeys(
  db: Database,
  { mode, family, rows, isKey, materialId }: ProofWrite,
  entries: readonly Pick<ExceptionDocument, 'paymentKey'>[],
  session: Session,
): Promise<ReadonlySet<string>> {
  const keys = entries.flatMap(({ paymentKey }) => paymentKey ?? [])
  if (keys.length === 0) return new Set()
  const { among, hint } = await keyFiltersNow(db)
  const payments = await db
    .collection(PAYMENTS)
    .find({ ...among(keys), invoiceId: null }, { hint, projection: { key: 1, matchKey: 1 }, session })
    .toArray()
  const covered = new Set(rows.map(({ matchKey }) => matchKey))
  if (isKey) {
    const ids = payments.map(({ matchKey }) => `${mode}:${family}:${matchKey}`)
    const derived = await db
      .collection(ADDRESSES)
      .find({ _id: { $in: ids }, materialId }, { projection: { matchKey: 1 }, session })
      .toArray()
    for (const { matchKey } of derived) covered.add(matchKey)
  }
  return new Set(payments.filter(({ matchKey }) => covered.has(matchKey)).map(({ key }) => key))
}
