import type mongoose from 'mongoose'
import { INVITATIONS, MEMBERSHIPS, USERS } from '#shared/db/accounts/operator-models.ts'
import { AUDIT_LOG, type AuditDocument } from '#shared/db/audit/audit-model.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import { WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import type { RecordedKind } from '#shared/ports/recorded-documents.ts'

type RowFilter = mongoose.mongo.Filter<AuditDocument>
type Row = { _id: string; userId?: string; workspaceId?: string }
interface Source {
  readonly of: CollectionModel<Row>
  /** The row that was stored with the document. */
  readonly row: (stored: Row) => RowFilter
}

const about =
  (...actions: readonly AuditAction[]) =>
  ({ _id }: Row): RowFilter => ({ subject: _id, action: { $in: [...actions] } })

const SOURCES: Readonly<Record<RecordedKind, Source>> = {
  workspace: { of: WORKSPACES, row: about('workspace.created') },
  user: { of: USERS, row: about('operator.created', 'member.joined') },
  membership: {
    of: MEMBERSHIPS,
    row: ({ userId = '', workspaceId = '' }) => ({ subject: userId, workspaceId, action: 'member.joined' }),
  },
  invitation: { of: INVITATIONS, row: about('member.invited') },
  api_key: { of: API_KEYS, row: about('api_key.created') },
  wallet: { of: WALLETS, row: about('wallet.added') },
  endpoint: { of: WEBHOOK_ENDPOINTS, row: about('endpoint.created') },
  // The row is about the invoice; its id names the refund.
  refund: { of: REFUNDS, row: ({ _id }) => ({ _id: `refund-requested:${_id}` }) },
}

/** Rows looked up at the same time. */
const AT_ONCE = 20

/** Documents and their audit rows on MongoDB. */
export function createRecordedDocuments(db: Database) {
  const rows = db.collection(AUDIT_LOG)
  // The row was stored with its document: it is the oldest about it, and found first in the order of the index.
  const isRecorded = async (filter: RowFilter): Promise<boolean> =>
    (await rows.findOne(filter, { sort: { at: 1 }, projection: { _id: 1 } })) !== null
  return {
    /** Documents behind an id, in the order of ids, and whether the audit log has the row of each; waiting rows count. */
    page: async (
      kind: RecordedKind,
      after: string | null,
      limit: number,
    ): Promise<readonly { readonly id: string; readonly isRecorded: boolean }[]> => {
      const { of, row } = SOURCES[kind]
      const behind = after === null ? {} : { _id: { $gt: after } }
      const projection = { userId: 1, workspaceId: 1 }
      const found = await db.collection(of).find(behind, { projection }).sort({ _id: 1 }).limit(limit).toArray()
      const read: { id: string; isRecorded: boolean }[] = []
      for (let start = 0; start < found.length; start += AT_ONCE) {
        const some = found.slice(start, start + AT_ONCE)
        const known = await Promise.all(some.map((stored) => isRecorded(row(stored))))
        read.push(...some.map(({ _id }, index) => ({ id: _id, isRecorded: known[index] === true })))
      }
      return read
    },
  }
}

/** The type of what {@link createRecordedDocuments} returns. */
export type RecordedDocuments = ReturnType<typeof createRecordedDocuments>
