import type { Database } from '#shared/db/connection/connect.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { AccountChecks } from '#shared/ports/native-balances.ts'
import { ScannerFenced } from '#shared/ports/payments.ts'
import { COIN_BALANCES } from './coin-balance-model.ts'

const idOf = (mode: Mode, network: NetworkId, matchKey: string): string => `${mode}:${network}:${matchKey}`

/** Balance checks on MongoDB. A newer holder's row does not match an older one's filter and collides on `_id`: that is the fence. */
export function createCoinBalanceRepository(db: Database) {
  const balances = db.collection(COIN_BALANCES)
  return {
    /** The stored checks of these accounts; accounts without one are missing. */
    find: async (mode: Mode, network: NetworkId, matchKeys: readonly string[]): Promise<readonly AccountChecks[]> => {
      const ids = matchKeys.map((matchKey) => idOf(mode, network, matchKey))
      const found = await balances.find({ _id: { $in: ids } }).toArray()
      return found.map(COIN_BALANCES.toRecord).map(({ matchKey, checks }) => ({ matchKey, checks }))
    },
    /** Replaces the checks of accounts. Throws `ScannerFenced` when a newer lease holder wrote one of them. */
    save: async (mode: Mode, network: NetworkId, accounts: readonly AccountChecks[], epoch: number): Promise<void> => {
      if (accounts.length === 0) return
      const operations = accounts.map(({ matchKey, checks }) => ({
        updateOne: {
          filter: { _id: idOf(mode, network, matchKey), scanEpoch: { $lte: epoch } },
          update: {
            $set: {
              ...COIN_BALANCES.toFields({ mode, network, matchKey, checks, scanEpoch: epoch }),
              updatedAt: new Date(),
            },
          },
          upsert: true as const,
        },
      }))
      try {
        await balances.bulkWrite(operations, { ordered: false })
      } catch (error) {
        if (bulkDuplicates(error) === null) throw error
        throw new ScannerFenced('a newer lease holder checked these balances', { cause: error })
      }
    },
  }
}
