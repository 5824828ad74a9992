import type mongoose from 'mongoose'
import { undisputedDetail } from '#shared/contracts/exception-labels.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { EXCEPTIONS, type ExceptionDocument, INBOX_OPEN } from '#shared/db/exceptions/exception-model.ts'
import { BY_KEY } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { ProofWrite } from '#shared/ports/ownership.ts'
import { ADDRESSES } from './wallet-models.ts'

type Session = mongoose.mongo.ClientSession

/** Open exceptions that are looked at within the transaction of the proof, and in each step afterwards. */
const PAGE = 500

/** Displaced workspaces whose open exceptions are not looked at yet, each from its last row on. */
export type RestOfInboxes = readonly { readonly workspaceId: string; readonly after: Place | null }[]
type Place = Pick<ExceptionDocument, '_id' | 'openedAt'>

/**
 * Moves open exceptions about unmatched money on the proved addresses from displaced workspaces to the
 * prover. Their exceptions close automatically; exceptions that a person decided are unchanged,
 * and so is money that an invoice holds. The prover's exceptions reveal nothing about the others' invoices. Looks at a page of rows, within
 * the transaction of the proof or afterwards, and returns what is left, empty at the end: others can make any number of rows, which must
 * not keep a proof from being stored. Safe to repeat.
 */
export async function moveInboxRows(
  db: Database,
  proof: ProofWrite,
  rest: RestOfInboxes,
  session: Session | null,
): Promise<RestOfInboxes> {
  let room = PAGE
  const left: { workspaceId: string; after: Place | null }[] = []
  for (const { workspaceId, after } of rest) {
    const page = room === 0 ? [] : await openUnmatched(db, proof.mode, { workspaceId, after }, room, session)
    await movePage(db, proof, page, session)
    room -= page.length
    if (room === 0) left.push({ workspaceId, after: page.at(-1) ?? after })
  }
  return left
}

async function openUnmatched(
  db: Database,
  mode: ProofWrite['mode'],
  { workspaceId, after }: RestOfInboxes[number],
  limit: number,
  session: Session | null,
): Promise<readonly ExceptionDocument[]> {
  const behind =
    after === null
      ? {}
      : { $or: [{ openedAt: { $gt: after.openedAt } }, { openedAt: after.openedAt, _id: { $gt: after._id } }] }
  const open = { open: true, kind: 'unmatched' as const, workspaceId, mode, ...behind }
  return await db
    .collection(EXCEPTIONS)
    .find({ ...open, invoiceId: null, deciding: { $exists: false } }, { hint: INBOX_OPEN, ...within(session) })
    .sort({ openedAt: 1, _id: 1 })
    .limit(limit)
    .toArray()
}

async function movePage(
  db: Database,
  proof: ProofWrite,
  open: readonly ExceptionDocument[],
  session: Session | null,
): Promise<void> {
  const { mode, workspaceId, provedAt } = proof
  const exceptions = db.collection(EXCEPTIONS)
  const covered = await coveredKeys(db, proof, open, session)
  const moved = open.filter(({ paymentKey }) => paymentKey !== null && covered.has(paymentKey))
  if (moved.length === 0) return
  const at = toDate(provedAt)
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
    { ordered: true, ...within(session) },
  )
  await exceptions.updateMany(
    { _id: { $in: moved.map(({ _id }) => _id) }, open: true, deciding: { $exists: false } },
    { $set: { open: false, closedAt: at, closedByItself: true } },
    within(session),
  )
}

const within = (session: Session | null) => (session === null ? {} : { session })

/** Of the payments named in exceptions, the unmatched ones on the proved addresses, or on any address of the proved key. */
async function coveredKeys(
  db: Database,
  { mode, family, rows, isKey, materialId }: ProofWrite,
  entries: readonly Pick<ExceptionDocument, 'paymentKey'>[],
  session: Session | null,
): Promise<ReadonlySet<string>> {
  const keys = entries.flatMap(({ paymentKey }) => paymentKey ?? [])
  if (keys.length === 0) return new Set()
  const payments = await db
    .collection(PAYMENTS)
    .find(
      { ...BY_KEY.among(keys), invoiceId: null },
      { hint: BY_KEY.hint, projection: { key: 1, matchKey: 1 }, ...within(session) },
    )
    .toArray()
  const covered = new Set(rows.map(({ matchKey }) => matchKey))
  if (isKey) {
    const ids = payments.map(({ matchKey }) => `${mode}:${family}:${matchKey}`)
    const derived = await db
      .collection(ADDRESSES)
      .find({ _id: { $in: ids }, materialId }, { projection: { matchKey: 1 }, ...within(session) })
      .toArray()
    for (const { matchKey } of derived) covered.add(matchKey)
  }
  return new Set(payments.filter(({ matchKey }) => covered.has(matchKey)).map(({ key }) => key))
}
