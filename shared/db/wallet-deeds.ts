import type { WalletDeeds } from '#shared/usecases/ports/wallets.ts'
import type { Database } from './connect.ts'
import { toDate, toDateOrNull } from './dates.ts'
import { audited, isRecorded } from './audited.ts'
import { WALLETS } from './wallet-models.ts'
import { walletToDocument } from './wallet-repository.ts'

/** Deeds on wallets on MongoDB: wallet, audit row and mails in one transaction. */
export function createWalletDeeds(db: Database): WalletDeeds {
  const wallets = db.collection(WALLETS)
  return {
    insert: (wallet, noted) =>
      audited(db, noted, async (session) => {
        const { workspaceId, mode, materialId } = wallet
        const { _id, ...rest } = walletToDocument(wallet)
        const change = { $setOnInsert: { _id, ...rest } }
        const added = await wallets.updateOne({ workspaceId, mode, materialId }, change, { upsert: true, session })
        return added.upsertedCount === 1
      }),
    change: (id, from, { disabledAt, effectiveAt }, noted) =>
      audited(db, noted, async (session) => {
        const set = { disabledAt: toDateOrNull(disabledAt) }
        const change =
          effectiveAt === null
            ? { $set: set, $unset: { effectiveAt: '' as const } }
            : { $set: { ...set, effectiveAt: toDate(effectiveAt) } }
        const held = { _id: id, disabledAt: toDateOrNull(from) }
        return (await wallets.updateOne(held, change, { session })).matchedCount === 1
      }),
    note: (noted) => audited(db, noted, () => Promise.resolve(true)),
    isNoted: (auditId) => isRecorded(db, auditId),
  }
}
