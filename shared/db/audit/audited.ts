import type mongoose from 'mongoose'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { mailToDocument } from '#shared/db/mails/mail-repository.ts'
import type { AuditRecord, Noted } from '#shared/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'

type Session = mongoose.mongo.ClientSession

/** Thrown inside of a transaction, so that the driver aborts it and nothing of it stays. */
class Withdrawn extends Error {
  override readonly name = 'Withdrawn'
  readonly isRecorded: boolean
  constructor(isRecorded: boolean) {
    super(isRecorded ? 'the audit row is there already' : 'there was nothing to change')
    this.isRecorded = isRecorded
  }
}

/** The stored form of a new audit row, which waits for its place in the chain. */
export function auditToDocument({ id, at, detail, ...same }: AuditRecord): AuditDocument {
  return { _id: id, ...same, at: toDate(at), detail: { ...detail }, waits: true }
}

/**
 * The one way to carry out an action of a person: `change`, its audit row and its mails are stored in one transaction, all or none.
 * The id of the row is the identity of the action. Returns false, and stores nothing at all, when `change` returns false because
 * it found nothing to change, and when a row with this id is stored already: an action is carried out once. Throws
 * `IDEMPOTENCY_MISMATCH` when that row is about another actor, action, subject or workspace.
 * `change` may run several times; it must use the session for every read and write.
 */
export async function audited(
  db: Database,
  recorded: AuditRecord | Noted,
  change: (session: Session) => Promise<boolean>,
): Promise<boolean> {
  const { audit, mails = [] }: Noted = 'audit' in recorded ? recorded : { audit: recorded }
  const session = db.connection.getClient().startSession()
  try {
    return await session.withTransaction(async () => {
      if (!(await change(session))) throw new Withdrawn(false)
      await insertRow(db, audit, session)
      for (const { _id, ...rest } of mails.map(mailToDocument)) {
        await db.collection(MAILS).updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
      }
      return true
    })
  } catch (error) {
    if (!(error instanceof Withdrawn)) throw error
    if (error.isRecorded) await requireSame(db, audit)
    return false
  } finally {
    await session.endSession()
  }
}

/** Runs an insert, in one transaction with its audit row where one is given; `session` is null without. Throws what the insert throws. */
export async function insertAudited(
  db: Database,
  audit: AuditRecord | undefined,
  insert: (session: Session | null) => Promise<void>,
): Promise<void> {
  if (audit === undefined) return await insert(null)
  await audited(db, audit, async (session) => {
    await insert(session)
    return true
  })
}

/**
 * Stores rows about what an audited action did to other workspaces, in the transaction of that action: called by its `change` only.
 * Each id must be made of the action's, so that it is stored once.
 */
export async function recordConsequences(
  db: Database,
  rows: readonly AuditRecord[],
  session: mongoose.mongo.ClientSession,
): Promise<void> {
  if (rows.length > 0) await db.collection(AUDIT_LOG).insertMany(rows.map(auditToDocument), { session })
}

/** Whether an action with this id was carried out. */
export async function isRecorded(db: Database, auditId: string): Promise<boolean> {
  return (await db.collection(AUDIT_LOG).findOne({ _id: auditId }, { projection: { _id: 1 } })) !== null
}

async function insertRow(db: Database, audit: AuditRecord, session: Session): Promise<void> {
  try {
    await db.collection(AUDIT_LOG).insertOne(auditToDocument(audit), { session })
  } catch (error) {
    // A row that another transaction is about to store is a write conflict instead: the driver runs everything again.
    if (duplicateKeyFields(error) !== null) throw new Withdrawn(true)
    throw error
  }
}

async function requireSame(db: Database, audit: AuditRecord): Promise<void> {
  const stored = await db.collection(AUDIT_LOG).findOne({ _id: audit.id })
  if (stored === null) return
  const names = ['actor', 'action', 'subject', 'workspaceId'] as const
  if (names.every((name) => stored[name] === audit[name])) return
  throw new PaymeshError('IDEMPOTENCY_MISMATCH', {
    message: 'This operation id was used for another action. Nothing was changed.',
    internal: `audit row ${audit.id} is ${stored.action} of ${stored.subject} by ${stored.actor}`,
  })
}
