import { AsyncLocalStorage } from 'node:async_hooks'
import type mongoose from 'mongoose'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { duplicateKeyFields } from '#shared/db/connection/duplicate-key.ts'
import { NEWEST } from '#shared/db/connection/newest.ts'
import { MAILS, type MailRecord } from '#shared/db/mails/mail-model.ts'
import { mailToDocument } from '#shared/db/mails/mail-repository.ts'
import type { AuditRecord, AuditWrite } from '#shared/ports/audit.ts'
import { AUDIT_LOG, type AuditDocument } from './audit-model.ts'

/** Binds a transaction to the right on which a request was decided: throws when the right is gone, and lets a loss of it wait otherwise. */
export type HoldRight = (db: Database, session: mongoose.mongo.ClientSession) => Promise<void>

const acting = new AsyncLocalStorage<HoldRight>()

/** Binds every audited action within `work` to a right: none is stored once it is gone. */
export const whileActing = <T>(hold: HoldRight, work: () => Promise<T>): Promise<T> => acting.run(hold, work)

/** Holds the right of the one who acts, in the transaction of an audited action. Changes nothing where nobody does. */
const holdRight: HoldRight = async (db, session) => await acting.getStore()?.(db, session)

type Session = mongoose.mongo.ClientSession

/** Thrown inside a transaction, so that the driver aborts it. */
class WithdrawnWrite extends Error {
  override readonly name = 'WithdrawnWrite'
  readonly isRecorded: boolean
  constructor(isRecorded: boolean) {
    super(isRecorded ? 'the audit row is there already' : 'there was nothing to change')
    this.isRecorded = isRecorded
  }
}

/** The stored form of a new audit row, which is not chained yet. */
export function auditToDocument(record: AuditRecord): AuditDocument {
  return { ...AUDIT_LOG.toDocument(record), waits: true }
}

/**
 * The only way to run an operator's action: `change`, its audit row and its mails are stored in one transaction, all or none.
 * The id of the row identifies the action. Returns false, and stores nothing at all, when `change` returns false because
 * there was nothing to change, and when a row with this id is stored already: an action runs once. Throws
 * `IDEMPOTENCY_MISMATCH` when that row is about another actor, action, subject or workspace, and `FORBIDDEN_SCOPE` when the member who acts
 * (`whileActing`) was removed or got another role since the request began.
 * `change` may run several times; it must use the session for every read and write. Mails that it returns are stored as well.
 */
export async function audited(
  db: Database,
  recorded: AuditRecord | AuditWrite,
  change: (session: Session) => Promise<boolean | readonly MailRecord[]>,
): Promise<boolean> {
  const { audit, mails = [] }: AuditWrite = 'audit' in recorded ? recorded : { audit: recorded }
  try {
    return await db.inTransaction(async (session) => {
      await holdRight(db, session)
      const changed = await change(session)
      if (changed === false) throw new WithdrawnWrite(false)
      await insertRow(db, audit, session)
      const all = changed === true ? mails : [...mails, ...changed]
      for (const { _id, ...rest } of all.map(mailToDocument)) {
        await db.collection(MAILS).updateOne({ _id }, { $setOnInsert: rest }, { upsert: true, session })
      }
      return true
    })
  } catch (error) {
    if (!(error instanceof WithdrawnWrite)) throw error
    const stored = await readVisible(db, audit.id)
    if (error.isRecorded && stored !== null) requireSame(stored, audit)
    return false
  }
}

/** Runs an insert, in one transaction with its audit row if one is given; `within` has no session without. Throws the insert's errors. */
export async function insertAudited(
  db: Database,
  recorded: AuditRecord | AuditWrite | undefined,
  insert: (within: { readonly session?: Session }) => Promise<unknown>,
): Promise<boolean> {
  const change = async (session?: Session): Promise<true> => {
    await insert(session === undefined ? {} : { session })
    return true
  }
  return recorded === undefined ? await change() : await audited(db, recorded, change)
}

/**
 * Stores rows about an audited action's effects on other workspaces, in the transaction of that action: called only by its `change`.
 * Each id must be derived from the action's, so that it is stored once.
 */
export async function recordConsequences(
  db: Database,
  rows: readonly AuditRecord[],
  session: mongoose.mongo.ClientSession,
): Promise<void> {
  if (rows.length > 0) await db.collection(AUDIT_LOG).insertMany(rows.map(auditToDocument), { session })
}

/** Whether an action with this id has run. */
export async function isRecorded(db: Database, auditId: string): Promise<boolean> {
  return (await db.collection(AUDIT_LOG).findOne({ _id: auditId }, { projection: { _id: 1 } })) !== null
}

async function insertRow(db: Database, audit: AuditRecord, session: Session): Promise<void> {
  try {
    await db.collection(AUDIT_LOG).insertOne(auditToDocument(audit), { session })
  } catch (error) {
    // A row that another transaction is about to store is a write conflict instead: the driver runs everything again.
    if (duplicateKeyFields(error) !== null) throw new WithdrawnWrite(true)
    throw error
  }
}

/**
 * The stored row of an action; null when there is none. A transaction is withdrawn as soon as the primary has what the same action
 * stored before, which majority reads may not see yet. This linearizable read waits for the majority, so that the caller finds all of it.
 */
async function readVisible(db: Database, id: string): Promise<AuditDocument | null> {
  return await db.collection(AUDIT_LOG).findOne({ _id: id }, NEWEST)
}

/** Throws `IDEMPOTENCY_MISMATCH` when the stored row is about another action than this one. */
function requireSame(stored: AuditDocument, audit: AuditRecord): void {
  const names = ['actor', 'action', 'subject', 'workspaceId'] as const
  if (names.every((name) => stored[name] === audit[name])) return
  throw new PaymeshError('IDEMPOTENCY_MISMATCH', {
    message: 'This operation ID was already used for another action. No changes were made.',
    internal: `audit row ${audit.id} is ${stored.action} of ${stored.subject} by ${stored.actor}`,
  })
}
