import type { Database } from '#shared/db/connection/connect.ts'
import { toDate } from '#shared/db/connection/dates.ts'
import { isAny } from '#shared/db/connection/is-any.ts'
import { uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { KEY_MATERIAL } from '#shared/db/wallets/wallet-models.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { IssuedNumbers, KeyCounters, Precautions, SeriesNumber } from '#shared/ports/marks.ts'
import { continueKey, numberSeries, takePrecautions } from './precautions.ts'

/** What was issued, as MongoDB has it. */
export function createIssuedRepository(db: Database) {
  return {
    /** Whether an invoice changed since this time. */
    isAnyChanged: async (since: Ms): Promise<boolean> => {
      // A new invoice is in no index of changes: its id has its time.
      const [isNew, isChanged] = await Promise.all([
        isAny(db, { of: INVOICES, filter: { _id: { $gt: uuidLowerBound(since) } } }),
        isAny(db, {
          of: INVOICES,
          filter: { updatedAt: { $gt: toDate(since) }, version: { $gt: 1 } },
          hint: 'invoice_changed',
        }),
      ])
      return isNew || isChanged
    },
    /** The counters of all extended keys, without sandbox keys. */
    listCounters: async (): Promise<readonly KeyCounters[]> => {
      const found = db
        .collection(KEY_MATERIAL)
        .find({ kind: 'xpub', sandbox: false }, { projection: { nextIndex: 1, derivedCount: 1 } })
      return (await found.toArray()).map(({ _id, nextIndex, derivedCount }) => ({
        materialId: _id,
        nextIndex,
        derivedCount,
      }))
    },
    /** The highest numbers of series that got an invoice since this time; of all series for null. */
    listNumbers: async (since: Ms | null): Promise<readonly SeriesNumber[]> => {
      const series: SeriesNumber[] = []
      if (since === null) {
        for await (const one of numberSeries(db)) series.push(one)
        return series
      }
      const highest = db.collection(INVOICES).aggregate<{
        _id: { workspaceId: string; mode: Mode }
        number: number
      }>([
        { $match: { _id: { $gte: uuidLowerBound(since) } } },
        { $group: { _id: { workspaceId: '$workspaceId', mode: '$mode' }, number: { $max: '$number' } } },
      ])
      return (await highest.toArray()).map(({ _id, number }): SeriesNumber => ({ ..._id, number }))
    },
    /**
     * Keeps every key, listed address, series and scanner away from what had been issued. Listed addresses are not offered for `quarantineMs` from `at`;
     * null: for as long as an invoice that was lost could still be paid (`restAfterLoss`), by the policies of the workspaces that list them.
     */
    takePrecautions: (
      issued: IssuedNumbers,
      times: { readonly quarantineMs: number | null; readonly at: Ms },
    ): Promise<Precautions> => takePrecautions(db, issued, times),
    /** The same for one key. */
    continueKey: (materialId: string, firstFree: number): Promise<void> => continueKey(db, materialId, firstFree),
  }
}
