import { otherAmountKey } from '#shared/ports/payments.ts'
import type { RawTransfer, SeenTransaction, WatchIndex } from '#shared/ports/scanning.ts'

/** A transfer as it was seen. */
export type SeenTransfer = NonNullable<SeenTransaction['transfer']>

/** Whether one of the transfers that another node shows is the one that was seen: by key, amount, receiver and token. */
export function showsTransfer(shown: readonly RawTransfer[], seen: SeenTransfer): boolean {
  return shown.some(
    ({ key, amountBase, matchKey, contract }) =>
      amountBase === seen.amountBase &&
      matchKey === seen.matchKey &&
      contract === seen.contract &&
      (key === seen.key || otherAmountKey(key, amountBase) === seen.key),
  )
}

/** Watches the receiver of one transfer alone, so that nothing else is read out of an answer. */
export function onlyReceiver({ matchKey }: SeenTransfer): WatchIndex {
  return { has: (key) => key === matchKey, add: () => {}, size: 1, keys: () => [matchKey] }
}
