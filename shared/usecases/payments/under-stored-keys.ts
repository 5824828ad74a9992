import { placeFormerKeys, stemOf } from '#shared/domain/payment/call-move-keys.ts'
import type { ObservedTransfer, Payment, PaymentRepository } from '#shared/ports/payments.ts'
import type { LedgerTransfer } from '#shared/ports/scanned-blocks.ts'
import type { Position } from './balance-increase-keys.ts'

/** Observations under the keys of their stored payments. */
export interface StoredObservations {
  /** All observations in their order; an observation stored under a former key carries that key. */
  readonly observations: readonly ObservedTransfer[]
  /** Current keys of payments that are stored under former ones. */
  readonly places: readonly { readonly key: string; readonly currentKey: string }[]
  /**
   * Keys of live payments that are not in the block: a former version stored one of its transfers twice. A transaction for
   * which the node shows no such transfer at all is skipped, because not every node records them.
   */
  readonly repeats: readonly string[]
}

/** Finds the payments that a former version stored for transfers whose key may have changed. Writes nothing. */
export async function underStoredKeys(
  { payments }: { readonly payments: Pick<PaymentRepository, 'listByKeyPrefix'> },
  { mode, network }: Position,
  transfers: readonly LedgerTransfer[],
  observations: readonly ObservedTransfer[],
): Promise<StoredObservations> {
  const keys = new Set(transfers.flatMap(({ key, mayHaveFormerKey }) => (mayHaveFormerKey ? [key] : [])))
  const asked = observations.filter(({ key }) => keys.has(key))
  const transactions = [...new Set(asked.flatMap(({ txHash }) => txHash ?? []))]
  const groups = await Promise.all(
    transactions.map((txHash) => payments.listByKeyPrefix(`${mode}:${network}:${txHash}`)),
  )
  const placed = groups.map((rows) => ({ rows, places: placeFormerKeys(rows) }))
  const places = new Map(placed.flatMap((group) => [...group.places]))
  if (places.size === 0) return { observations, places: [], repeats: [] }
  const storedAs = new Map([...places].map(([key, currentKey]) => [currentKey, key]))
  return {
    observations: observations.map((observation) => ({
      ...observation,
      key: storedAs.get(observation.key) ?? observation.key,
    })),
    places: [...places].map(([key, currentKey]) => ({ key, currentKey })),
    repeats: placed.flatMap((group) => repeatsAmong(group.rows, group.places, asked)),
  }
}

function repeatsAmong(
  rows: readonly Payment[],
  places: ReadonlyMap<string, string>,
  asked: readonly ObservedTransfer[],
): readonly string[] {
  const seen = new Set(asked.map(({ key }) => key))
  return rows.flatMap(({ key, state, block }) => {
    const place = places.get(key)
    const isLive = state === 'detected' || state === 'confirmed'
    if (place === undefined || seen.has(place) || !isLive) return []
    const equals = asked.filter((observation) => stemOf(observation.key) === stemOf(place))
    return equals.some((observation) => observation.block !== null && observation.block.hash === block?.hash)
      ? [key]
      : []
  })
}
