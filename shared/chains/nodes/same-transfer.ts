import { isSameMove, keysOfMove } from '#shared/ports/payments.ts'
import type { RawTransfer } from '#shared/ports/scanned-blocks.ts'
import type { SeenTransaction, WatchIndex } from '#shared/ports/scanning.ts'

/** A transfer as observed. */
export type SeenTransfer = NonNullable<SeenTransaction['transfer']>

/** Whether another node's transfers include the observed one: by key, amount, receiver and token. */
export function showsTransfer(shown: readonly RawTransfer[], seen: SeenTransfer): boolean {
  return shown.some((transfer) => isSameMove(transfer, seen) && keysOfMove(transfer).includes(seen.key))
}

/** Watches only the receiver of one transfer, so that nothing else is extracted. */
export function onlyReceiver({ matchKey }: SeenTransfer): WatchIndex {
  return { has: (key) => key === matchKey, add: () => {}, size: 1, keys: () => [matchKey] }
}
