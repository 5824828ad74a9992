import type mongoose from 'mongoose'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { audited, isRecorded } from '#shared/db/audit/audited.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { toDate, toDateOrNull } from '#shared/db/connection/dates.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from '#shared/ports/audit.ts'
import type { Listing } from '#shared/ports/listing.ts'
import type { ProofWrite } from '#shared/ports/ownership.ts'
import { addListedWithin } from './listed-addresses.ts'
import { moveInboxRows, type RestOfInboxes } from './move-inbox-rows.ts'
import { storeProof } from './store-proof.ts'
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
