/** Orders of a list of the dashboard, by time; each is read from an index in its order. */
export const LIST_ORDERS = ['newest', 'oldest'] as const

/** Newest or oldest rows first. */
export type ListOrder = (typeof LIST_ORDERS)[number]
