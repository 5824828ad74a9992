/** Orders of a list of the dashboard, by time; each is read from an index in its order. */
export const LIST_ORDERS = ['newest', 'oldest'] as const

/** Newest or oldest rows first. */
export type ListOrder = (typeof LIST_ORDERS)[number]

/** Times other than that of creation by which a list is selected: an invoice became paid, a payment was confirmed, or first seen. */
export const LIST_TIMES = ['created', 'paid', 'confirmed', 'received'] as const

/** A period of one of those times. */
export interface MovedPeriod {
  readonly by: Exclude<(typeof LIST_TIMES)[number], 'created'>
  readonly from: number | null
  /** Exclusive. */
  readonly to: number | null
}
