import { model } from '@medusajs/framework/utils'

/**
 * One invoice for which money came and what of it the shop cannot keep, in base units of its asset. `open_base` is what is to be returned
 * and was not marked as returned. `is_finished`: nothing is to be done until something changes; `seen_at` is the newest change that was seen, by
 * the clock of Paymesh.
 */
export const PaymeshInvoice = model.define('paymesh_invoice', {
  id: model.id({ prefix: 'pminv' }).primaryKey(),
  invoice_id: model.text().unique(),
  invoice_number: model.number(),
  session_id: model.text(),
  symbol: model.text(),
  decimals: model.number(),
  returned_base: model.text().default('0'),
  open_base: model.text().default('0').index(),
  reason: model.text(),
  is_finished: model.boolean(),
  seen_at: model.text(),
})
