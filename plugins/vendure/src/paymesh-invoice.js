import { VendureEntity } from '@vendure/core'
import { Column, Entity, Index } from 'typeorm'

/**
 * One invoice of an order and what of its money the shop cannot keep. Figures are base units of its asset; `openBase` is what is to be
 * returned and was not marked as returned, and the list for the merchant has every row where it is not 0. `seenAt` is the invoice's
 * `updated_at` at the last decision: an older picture decides nothing.
 * @typedef {Record<'invoiceId' | 'orderCode' | 'channelToken' | 'symbol' | 'toReturnBase' | 'surplusBase' | 'returnedBase' | 'openBase' | 'reason' | 'seenAt', string>} Texts
 * @typedef {VendureEntity & Texts & Record<'invoiceNumber' | 'decimals', number>} Columns
 * @type {new (input?: Partial<Columns>) => Columns}
 */
export const PaymeshInvoice = /** @type {any} */ (class PaymeshInvoice extends VendureEntity {})

const column = (/** @type {string} */ name, /** @type {import('typeorm').ColumnOptions} */ options) =>
  Column(options)(PaymeshInvoice.prototype, name)
column('invoiceId', { type: 'varchar', unique: true })
for (const name of ['orderCode', 'channelToken', 'symbol', 'reason', 'seenAt'])
  column(name, { type: 'varchar', default: '' })
for (const name of ['toReturnBase', 'surplusBase', 'returnedBase', 'openBase'])
  column(name, { type: 'varchar', default: '0' })
for (const name of ['invoiceNumber', 'decimals']) column(name, { type: 'int', default: 0 })
for (const name of ['orderCode', 'openBase']) Index()(PaymeshInvoice.prototype, name)
Entity('paymesh_invoice')(PaymeshInvoice)
