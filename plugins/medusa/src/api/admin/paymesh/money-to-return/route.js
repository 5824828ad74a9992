import { MedusaError, Modules } from '@medusajs/framework/utils'
import { alone } from '../../../../lib/settle.js'

const PAGE = 100

/**
 * `GET /admin/paymesh/money-to-return?offset=0`: the list for the merchant, oldest first; 100 at a time.
 * @param {import('@medusajs/framework/http').AuthenticatedMedusaRequest} request
 * @param {import('@medusajs/framework/http').MedusaResponse} response
 */
export async function GET(request, response) {
  const paymesh = request.scope.resolve('paymesh')
  const skip = Number(request.query['offset'] ?? 0)
  if (!Number.isSafeInteger(skip) || skip < 0) throw new MedusaError('invalid_data', 'offset is a whole number from 0')
  const order = /** @type {const} */ ({ created_at: 'ASC' })
  const page = { take: PAGE, skip, order }
  const [rows, count] = await paymesh.listAndCountPaymeshInvoices({ open_base: { $ne: '0' } }, page)
  response.json({
    count,
    offset: skip,
    limit: PAGE,
    money_to_return: rows.map((/** @type {import('../../../../lib/settle.js').Row} */ row) =>
      present(row, paymesh.dashboardUrl),
    ),
  })
}

/**
 * `POST /admin/paymesh/money-to-return` with `invoice_id` and `amount_base`: marks it as returned. Refused when the figure has changed since
 * it was read. A session that was not paid ends with it, so that no later payment makes an order of money that is gone.
 * @param {import('@medusajs/framework/http').AuthenticatedMedusaRequest<{ invoice_id?: string, amount_base?: string }>} request
 * @param {import('@medusajs/framework/http').MedusaResponse} response
 */
export async function POST(request, response) {
  const paymesh = request.scope.resolve('paymesh')
  const { invoice_id = '', amount_base } = request.body ?? {}
  const marked = await alone(request.scope, invoice_id, async () => {
    const [row] = await paymesh.listPaymeshInvoices({ invoice_id: String(invoice_id) })
    if (row === undefined) throw new MedusaError('not_found', 'There is no such invoice.')
    if (row.open_base !== amount_base)
      throw new MedusaError('conflict', `${row.open_base} base units are to be returned now.`)
    const returned_base = String(BigInt(row.returned_base) + BigInt(row.open_base))
    await paymesh.updatePaymeshInvoices({ id: row.id, returned_base, open_base: '0', is_finished: false })
    return row
  })
  const payments = request.scope.resolve(Modules.PAYMENT)
  const paid = await payments.listPayments({ payment_session_id: marked.session_id })
  const [session] = paid.length > 0 ? [] : await payments.listPaymentSessions({ id: marked.session_id })
  if (session !== undefined) await payments.deletePaymentSession(session.id)
  response.json({ invoice_id, returned_base: amount_base })
}

/**
 * @param {import('../../../../lib/settle.js').Row} row
 * @param {string} dashboardUrl
 */
function present({ invoice_id, invoice_number, open_base, symbol, decimals, reason }, dashboardUrl) {
  const digits = open_base.padStart(decimals + 1, '0')
  const amount = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
  return {
    invoice_id,
    invoice_number,
    amount,
    amount_base: open_base,
    symbol,
    reason,
    url: `${dashboardUrl}/invoices/${invoice_id}`,
  }
}
