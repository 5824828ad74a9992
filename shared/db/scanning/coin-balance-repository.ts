import type { Database } from '#shared/db/connection/connect.ts'
import { bulkDuplicates } from '#shared/db/connection/duplicate-key.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { AccountChecks, AccountStarts } from '#shared/ports/native-balances.ts'
import { ScannerFenced } from '#shared/ports/payments.ts'
import { COIN_BALANCES, type CoinBalance } from './coin-balance-model.ts'

const idOf = (mode: Mode, network: NetworkId, matchKey: string): string => `${mode}:${network}:${matchKey}`

/** Balance checks on MongoDB. A newer holder's row does not match an older one's filter and collides on `_id`: that is the fence. */
export function createCoinBalanceRepository(db: Database) {
  const balances = db.collection(COIN_BALANCES)

  /** Sets fields of accounts. */
  async function set(
    rows: readonly (Pick<CoinBalance, 'mode' | 'network' | 'matchKey'> & Partial<CoinBalance>)[],
    epoch: number,
  ): Promise<void> {
    if (rows.length === 0) return
    const operations = rows.map((row) => ({
      updateOne: {
        filter: { _id: idOf(row.mode, row.network, row.matchKey), scanEpoch: { $lte: epoch } },
        update: {
          $set: { ...COIN_BALANCES.toFields({ ...row, scanEpoch: epoch }), updatedAt: new Date() },
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
  }

  return {
    /** The stored checks of these accounts; accounts without one are missing. */
    find: async (mode: Mode, network: NetworkId, matchKeys: readonly string[]): Promise<readonly AccountChecks[]> => {
      if (matchKeys.length === 0) return []
      const ids = matchKeys.map((matchKey) => idOf(mode, network, matchKey))
      const found = await balances.find({ _id: { $in: ids }, checks: { $exists: true } }).toArray()
      return found
        .map(COIN_BALANCES.toRecord)
        .map(({ matchKey, checks = [], run }) => ({ matchKey, checks, ...(run !== undefined && { run }) }))
    },
    /** Replaces the checks of accounts. Throws `ScannerFenced` when a newer lease holder wrote one of them. */
    save: (mode: Mode, network: NetworkId, accounts: readonly AccountChecks[], epoch: number): Promise<void> =>
      set(
        accounts.map(({ checks, ...account }) => ({ mode, network, ...account, checks: [...checks] })),
        epoch,
      ),
    /** Forgets the checks of accounts whose balances are no longer compared; those that a newer lease holder wrote stay. */
    dropChecks: async (mode: Mode, network: NetworkId, matchKeys: readonly string[], epoch: number): Promise<void> => {
      const ids = matchKeys.map((matchKey) => idOf(mode, network, matchKey))
      const own = { _id: { $in: ids }, scanEpoch: { $lte: epoch } }
      if (ids.length > 0)
        await balances.updateMany(own, { $unset: { checks: '', run: '' }, $set: { updatedAt: new Date() } })
    },
    /** What these accounts had when invoices were first read; accounts without that are missing. */
    starts: async (mode: Mode, network: NetworkId, matchKeys: readonly string[]): Promise<readonly AccountStarts[]> => {
      const ids = matchKeys.map((matchKey) => idOf(mode, network, matchKey))
      const found = await balances.find({ _id: { $in: ids }, starts: { $exists: true } }).toArray()
      return found.map(COIN_BALANCES.toRecord).map(({ matchKey, starts = [] }) => ({ matchKey, starts }))
    },
    /** Replaces what accounts had at first. Throws `ScannerFenced` as `save` does. */
    saveStarts: (mode: Mode, network: NetworkId, accounts: readonly AccountStarts[], epoch: number): Promise<void> =>
      set(
        accounts.map(({ matchKey, starts }) => ({ mode, network, matchKey, starts: [...starts] })),
        epoch,
      ),
  }
}
