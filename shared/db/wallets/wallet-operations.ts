import { createHash } from 'node:crypto'
import type mongoose from 'mongoose'
import { invalidState, PaymeshError } from '#shared/contracts/errors.ts'
import { undisputedDetail } from '#shared/contracts/exception-labels.ts'
import { challengeRefused } from '#shared/contracts/proof-refusals.ts'
import { audited, isRecorded, recordConsequences } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toDateOrNull } from '#shared/db/connection/dates.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import { EXCEPTIONS, type ExceptionDocument, INBOX_OPEN } from '#shared/db/exceptions/exception-model.ts'
import { BY_KEY } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord, AuditWrite } from '#shared/ports/audit.ts'
import type { Listing } from '#shared/ports/listing.ts'
import type { ProofWrite } from '#shared/ports/ownership.ts'
import { addListedWithin } from './listed-addresses.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS } from './ownership-models.ts'
import { findDisplaced, subjectsOf } from './ownership-repository.ts'
import { ADDRESSES, WALLETS, type Wallet } from './wallet-models.ts'

type Session = mongoose.mongo.ClientSession

/** Wallet changes on MongoDB: proof, wallet, addresses, audit row and mails in one transaction. */
export function createWalletOperations(db: Database) {
  const wallets = db.collection(WALLETS)

  const withListings = async (
    auditWrite: Parameters<WalletOperations['note']>[0],
    {
      listings,
      proof = null,
    }: { readonly listings: readonly Listing[]; readonly proof?: ProofWrite | null | undefined },
    change: (session: Session) => Promise<boolean>,
  ): Promise<boolean> => {
    let rest: RestOfInboxes = []
    const isStored = await audited(db, auditWrite, async (session) => {
      if (!(await change(session))) return false
      if (proof !== null) rest = await storeProof(db, proof, session)
      for (const listing of listings) await list(db, listing, session)
      return true
    })
    while (isStored && proof !== null && rest.length > 0) rest = await moveInboxRows(db, proof, rest, null)
    return isStored
  }

  return {
    /** False when this action was recorded before, or the workspace has a wallet on this material; then nothing is stored. */
    insert: (
      wallet: Wallet,
      auditWrite: AuditWrite,
      listings: readonly Listing[],
      proof?: ProofWrite | null,
    ): Promise<boolean> =>
      withListings(auditWrite, { listings, proof }, async (session) => {
        const { workspaceId, mode, materialId } = wallet
        const { _id, ...rest } = WALLETS.toDocument(wallet)
        const change = { $setOnInsert: { _id, ...rest } }
        const added = await wallets.updateOne({ workspaceId, mode, materialId }, change, { upsert: true, session })
        return added.upsertedCount === 1
      }),
    /** Changes a wallet that has been disabled since `from` (null = enabled); false when it has not, or the action was recorded before. */
    change: (
      id: string,
      from: Ms | null,
      { disabledAt, effectiveAt }: { readonly disabledAt: Ms | null; readonly effectiveAt: Ms | null },
      auditWrite: AuditWrite,
      listings: readonly Listing[],
      proof?: ProofWrite | null,
    ): Promise<boolean> =>
      withListings(auditWrite, { listings, proof }, async (session) => {
        const set = { disabledAt: toDateOrNull(disabledAt) }
        const change =
          effectiveAt === null
            ? { $set: set, $unset: { effectiveAt: '' as const } }
            : { $set: { ...set, effectiveAt: toDate(effectiveAt) } }
        const held = { _id: id, disabledAt: toDateOrNull(from) }
        return (await wallets.updateOne(held, change, { session })).matchedCount === 1
      }),
    /** Records a change that leaves the wallet itself unchanged: more addresses in its pool. */
    note: (auditWrite: AuditWrite, listings: readonly Listing[], proof?: ProofWrite | null): Promise<boolean> =>
      withListings(auditWrite, { listings, proof }, () => Promise.resolve(true)),
    /** Whether an action with this audit row has run. */
    isRecorded: (auditId: string): Promise<boolean> => isRecorded(db, auditId),
  }
}

/** The type of what {@link createWalletOperations} returns. */
export type WalletOperations = ReturnType<typeof createWalletOperations>

async function list(db: Database, { materialId, rows, offeredFrom }: Listing, session: Session): Promise<void> {
  try {
    await addListedWithin(db.collection(ADDRESSES), materialId, rows, offeredFrom, session)
  } catch (cause) {
    if (bulkDuplicates(cause) === null) throw cause
    const message = 'One of these addresses changed at the same time. No changes were made. Try again.'
    throw new PaymeshError('INVALID_STATE', { message, cause })
  }
}

/**
 * Uses up a challenge, stores its proofs and takes the covered addresses from every other workspace, within the transaction of the change that the
 * proof allows. Throws `VALIDATION_ERROR` when the challenge is used, expired or about something else, and `INVALID_STATE` when
 * it would displace other workspaces than announced; the transaction then stores nothing. Returns what `moveInboxRows` has to move after it.
 */
async function storeProof(db: Database, proof: ProofWrite, session: Session): Promise<RestOfInboxes> {
  const { nonce, workspaceId, mode, family, materialId, subjectHash, provedAt } = proof
  const used = await db
    .collection(OWNERSHIP_CHALLENGES)
    .deleteOne({ _id: nonce, workspaceId, mode, subjectHash, expiresAt: { $gt: toDate(provedAt) } }, { session })
  if (used.deletedCount !== 1) throw challengeRefused()
  const stored = { workspaceId, mode, family, materialId, provedAt: toDate(provedAt), nonce }
  await db.collection(OWNERSHIP_PROOFS).bulkWrite(
    subjectsOf(proof).map((_id) => ({ updateOne: { filter: { _id }, update: { $set: stored }, upsert: true } })),
    { ordered: false, session },
  )
  // Read after the write: of two proofs of one subject the second waits here until the first is visible.
  const displaced = await findDisplaced(db, proof, session)
  if (JSON.stringify(displaced) !== JSON.stringify(proof.displaced)) {
    const message = 'Someone else changed this at the same time. No changes were made. Try again.'
    throw invalidState(message)
  }
  await takeAddresses(db, proof, session)
  await disableOthers(db, proof, session)
  const inboxes = displaced.map((use) => ({ workspaceId: use.workspaceId, after: null }))
  const rest = await moveInboxRows(db, proof, inboxes, session)
  await recordLosses(db, proof, session)
  return rest
}

/** An audit row in each workspace that loses something; it does not identify the prover, not even by id. */
async function recordLosses(db: Database, proof: ProofWrite, session: Session): Promise<void> {
  const { displaced, mode, family, nonce, provedAt: at } = proof
  const rows = displaced.map(({ workspaceId, isKey, count, addresses, walletIds }): AuditRecord => {
    const id = createHash('sha256').update(`displaced:${nonce}:${workspaceId}`).digest('hex')
    const about = { subject: workspaceId, workspaceId, mode }
    const detail = {
      family,
      what: isKey ? 'key' : 'addresses',
      count,
      first: addresses.join(', '),
      wallets: walletIds.join(' '),
    }
    return { id: `displaced:${id}`, at, actor: 'system', action: 'wallet.displaced', ...about, detail }
  })
  await recordConsequences(db, rows, session)
}

/** Gives the rows the prover's kind of use, so that no pool of others offers them; their claims are valid until they end. */
async function takeAddresses(db: Database, proof: ProofWrite, session: Session): Promise<void> {
  const { mode, family, rows, materialId, isKey } = proof
  const idOf = (matchKey: string) => `${mode}:${family}:${matchKey}`
  const addresses = db.collection(ADDRESSES)
  const heldBy = isKey ? { $unset: { heldBy: '' as const } } : { $set: { heldBy: [] } }
  const otherUse = rows.map((row) => ({
    updateOne: {
      filter: { _id: idOf(row.matchKey), materialId: { $ne: row.materialId } },
      update: { ...heldBy, $set: { ...heldBy.$set, materialId: row.materialId, index: row.index } },
    },
  }))
  if (otherUse.length > 0) await addresses.bulkWrite(otherUse, { ordered: false, session })
  if (isKey) return
  const ids = { $in: rows.map(({ matchKey }) => idOf(matchKey)) }
  await addresses.updateMany({ _id: ids, heldBy: materialId }, { $set: { heldBy: [materialId] } }, { session })
  await addresses.updateMany({ _id: ids, heldBy: { $ne: materialId } }, { $set: { heldBy: [] } }, { session })
}

/** Disables wallets of one address or one key for all workspaces but the prover. */
async function disableOthers(db: Database, proof: ProofWrite, session: Session): Promise<void> {
  const { mode, family, rows, materialId, isKey, workspaceId, provedAt } = proof
  const wallets = db.collection(WALLETS)
  const single = rows.map(({ matchKey }) => `${mode}:${family}:address:${matchKey}`)
  const lost = { $in: isKey ? [materialId, ...single] : single }
  const at = toDate(provedAt)
  // A new time, so that an owner who enables the wallet at this moment sees that it changed.
  await wallets.updateMany(
    { materialId: lost, workspaceId: { $ne: workspaceId }, displacedAt: { $exists: false } },
    { $set: { disabledAt: at, displacedAt: at } },
    { session },
  )
  await wallets.updateMany({ materialId, workspaceId }, { $unset: { displacedAt: '' as const } }, { session })
}

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
