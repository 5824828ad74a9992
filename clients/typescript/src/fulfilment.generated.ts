// Generated from clients/conformance/fulfilment.json by `npm run gen:client`. Do not edit.

/** What a status of an invoice means for the order. */
export const CONDITIONS = {
  new: 'waiting',
  pending: 'waiting',
  partial: 'partly',
  confirming: 'partly',
  paid: 'paid',
  overpaid: 'paid',
  expired: 'ended',
  cancelled: 'ended',
} as const

/** Order and condition of the invoice: action, next state of the order, money to return. */
export const TABLE = {
  open: {
    waiting: ['none', 'open', 'nothing'],
    partly: ['show', 'open', 'nothing'],
    paid: ['ship', 'shipped', 'excess'],
    ended: ['release', 'released', 'all'],
  },
  released: {
    waiting: ['none', 'released', 'nothing'],
    partly: ['show', 'released', 'nothing'],
    paid: ['reserve_and_ship', 'shipped', 'excess'],
    ended: ['none', 'released', 'all'],
  },
  shipped: {
    waiting: ['none', 'shipped', 'excess'],
    partly: ['none', 'shipped', 'excess'],
    paid: ['none', 'shipped', 'excess'],
    ended: ['none', 'shipped', 'excess'],
  },
  settled: {
    waiting: ['cancel_invoice', 'settled', 'all'],
    partly: ['none', 'settled', 'all'],
    paid: ['none', 'settled', 'all'],
    ended: ['none', 'settled', 'all'],
  },
  cancelled: {
    waiting: ['cancel_invoice', 'cancelled', 'all'],
    partly: ['none', 'cancelled', 'all'],
    paid: ['none', 'cancelled', 'all'],
    ended: ['none', 'cancelled', 'all'],
  },
} as const
