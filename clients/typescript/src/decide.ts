import { CONDITIONS, TABLE } from './fulfilment.generated.ts'
import type { Invoice } from './types.ts'

/**
 * State of your order: `open` (not paid), `released` (its invoice ended unpaid, the goods are on sale again), `shipped` (because of this
 * invoice), `settled` (paid in another way: by another invoice, by card, by hand) or `cancelled`.
 */
export type OrderState = keyof typeof TABLE

type Cell = (typeof TABLE)[OrderState][keyof (typeof TABLE)[OrderState]]

/** What a shop does about an invoice. `reserve_and_ship`: the goods were put on sale again; if they are gone, decide again as `cancelled`. */
export type FulfilmentAction = Cell[0]

/** What to do, the order's state afterwards, and the money of this invoice to return, in base units of its asset. */
export interface Decision {
  readonly action: FulfilmentAction
  readonly order: OrderState
  readonly toReturnBase: bigint
}

/**
 * Decides about the current invoice of an order, by the table of the guide. Call it in the transaction that stores the result, with the
 * order's row locked; repeating it changes nothing. A status that this version does not have decides nothing.
 */
export function decide(order: OrderState, invoice: Invoice): Decision {
  const row = TABLE[order]
  if (row === undefined) throw new TypeError(`an order is never ${order}`)
  if (!Object.hasOwn(CONDITIONS, invoice.status)) return { action: 'none', order, toReturnBase: 0n }
  const [action, next, returns] = row[CONDITIONS[invoice.status as keyof typeof CONDITIONS]]
  return { action, order: next, toReturnBase: toReturn(returns, invoice) }
}

function toReturn(returns: Cell[2], { received, crypto, status }: Invoice): bigint {
  const confirmed = BigInt(received.confirmed_base_units)
  if (returns === 'all') return confirmed
  if (returns === 'nothing' || status !== 'overpaid' || crypto === null) return 0n
  const excess = confirmed - BigInt(crypto.amount_base_units)
  return excess > 0n ? excess : 0n
}
