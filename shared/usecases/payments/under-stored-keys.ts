import { placeFormerKeys, stemOf } from '#shared/domain/payment/call-move-keys.ts'
import type { Payment, PaymentRepository, PaymentSighting } from '#shared/ports/payments.ts'
import type { LedgerTransfer } from '#shared/ports/scanning.ts'
import type { Position } from './balance-increase-keys.ts'

/** Sightings under the keys that their payments are stored by. */
export interface StoredSightings {
  /** All sightings in their order; those that are stored under a former key have that one. */
  readonly sightings: readonly PaymentSighting[]
  /** Current keys of payments that are stored under former ones. */
  readonly places: readonly { readonly key: string; readonly currentKey: string }[]
  /**
   * Keys of live payments that the block does not hold: a former version stored one transfer of it twice. A transaction of
   * which the node shows no such transfer at all repeats nothing, because not every node records them.
   */
  readonly repeats: readonly string[]
}

/** Finds the payments that a former version stored for transfers that may have another key now. Writes nothing. */
export async function underStoredKeys(
  { payments }: { readonly payments: Pick<PaymentRepository, 'listByKeyPrefix'> },
  { mode, network }: Position,
  transfers: readonly LedgerTransfer[],
  sightings: readonly PaymentSighting[],
): Promise<StoredSightings> {
  const keys = new Set(transfers.flatMap(({ key, mayHaveFormerKey }) => (mayHaveFormerKey ? [key] : [])))
  const asked = sightings.filter(({ key }) => keys.has(key))
  const transactions = [...new Set(asked.flatMap(({ txHash }) => txHash ?? []))]
  const groups = await Promise.all(
    transactions.map((txHash) => payments.listByKeyPrefix(`${mode}:${network}:${txHash}`)),
  )
  const placed = groups.map((rows) => ({ rows, places: placeFormerKeys(rows) }))
  const places = new Map(placed.flatMap((group) => [...group.places]))
  if (places.size === 0) return { sightings, places: [], repeats: [] }
  const storedAs = new Map([...places].map(([key, currentKey]) => [currentKey, key]))
  return {
    sightings: sightings.map((sighting) => ({ ...sighting, key: storedAs.get(sighting.key) ?? sighting.key })),
    places: [...places].map(([key, currentKey]) => ({ key, currentKey })),
    repeats: placed.flatMap((group) => repeatsAmong(group.rows, group.places, asked)),
  }
}

function repeatsAmong(
  rows: readonly Payment[],
  places: ReadonlyMap<string, string>,
  asked: readonly PaymentSighting[],
): readonly string[] {
  const seen = new Set(asked.map(({ key }) => key))
  return rows.flatMap(({ key, state, block }) => {
    const place = places.get(key)
    const isLive = state === 'detected' || state === 'confirmed'
    if (place === undefined || seen.has(place) || !isLive) return []
    const equals = asked.filter((sighting) => stemOf(sighting.key) === stemOf(place))
    return equals.some((sighting) => sighting.block !== null && sighting.block.hash === block?.hash) ? [key] : []
  })
}
