import { ContainerRegistrationKeys, Modules, PaymentActions } from '@medusajs/framework/utils'
import { processPaymentWorkflowId } from '@medusajs/medusa/core-flows'
import { decide } from '@paymesh/client'

/** @typedef {import('@paymesh/client').Invoice} Invoice */
/** @typedef {Record<'invoice_id' | 'open_base' | 'returned_base' | 'seen_at' | 'symbol' | 'reason', string> & Record<'invoice_number' | 'decimals', number> & { readonly is_finished: boolean, readonly updated_at: Date }} Row */
/** @typedef {import('@medusajs/framework/types').MedusaContainer} MedusaContainer */

const DAY_MS = 86_400_000
/** Rows that are not finished and looked at in one run, the longest not looked at first. */
const UNFINISHED_MAX = 200
/** Seconds that one waits for another who works on the same invoice. */
const LOCK_S = 60

/**
 * Looks at every invoice for which money came in the last days, and at those that were not finished: completes carts that are paid, and lists
 * money that no order can keep. Without `isThorough` what changed without a new payment is not seen. What has not changed since it was seen
 * is left alone; what fails is logged, and looked at again in the next run.
 * @param {MedusaContainer} container
 * @param {{ readonly days: number, readonly isThorough: boolean }} options
 */
export async function settleRecent(container, { days, isThorough }) {
  const paymesh = container.resolve('paymesh')
  const since = new Date(Date.now() - days * DAY_MS).toISOString()
  const changes = await changesSince(paymesh.client, since, isThorough)
  const refunds = await refundsSince(container, since)
  const ids = [...changes.keys(), ...refunds.keys()]
  const rows = ids.length === 0 ? [] : await paymesh.listPaymeshInvoices({ invoice_id: ids }, { take: ids.length })
  const isKnown = (/** @type {Row} */ row) =>
    row.is_finished &&
    row.seen_at >= (changes.get(row.invoice_id) ?? '') &&
    row.updated_at >= (refunds.get(row.invoice_id) ?? row.updated_at)
  const known = new Set(rows.filter(isKnown).map((/** @type {Row} */ row) => row.invoice_id))
  const order = /** @type {const} */ ({ updated_at: 'ASC' })
  const unfinished = await paymesh.listPaymeshInvoices({ is_finished: false }, { take: UNFINISHED_MAX, order })
  const due = [...ids.filter((id) => !known.has(id)), ...unfinished.map((/** @type {Row} */ row) => row.invoice_id)]
  for (const id of new Set(due)) {
    await settle(container, id, changes.get(id) ?? '').catch((error) => {
      container.resolve(ContainerRegistrationKeys.LOGGER).error(`Paymesh invoice ${id}: ${error}`)
    })
  }
}

/**
 * The invoices for which money came, each with the newest change of it, by the clock of Paymesh.
 * @param {import('@paymesh/client').Paymesh} client
 * @param {string} since
 * @param {boolean} isThorough
 */
async function changesSince(client, since, isThorough) {
  /** @type {Map<string, string>} */
  const changes = new Map()
  const add = (/** @type {string} */ id, /** @type {string} */ at) => {
    if (at > (changes.get(id) ?? '')) changes.set(id, at)
  }
  for await (const { invoice_id, created_at, updated_at } of client.payments.list({ limit: 100 })) {
    if (created_at < since) break
    add(invoice_id, updated_at)
  }
  if (isThorough)
    for await (const { id, received, updated_at } of client.invoices.list({ created_after: since, limit: 100 }))
      if (received.confirmed_base_units !== '0') add(id, updated_at)
  return changes
}

/**
 * The invoices of refunds that Medusa made, each with the time of the newest one, by the clock of the shop.
 * @param {MedusaContainer} container
 * @param {string} since
 */
async function refundsSince(container, since) {
  const { data } = await container.resolve(ContainerRegistrationKeys.QUERY).graph({
    ...{ entity: 'refund', fields: ['created_at', 'payment.provider_id', 'payment.data'] },
    filters: { created_at: { $gte: since } },
  })
  /** @type {Map<string, Date>} */
  const refunds = new Map()
  for (const { payment, created_at } of data) {
    const at = new Date(created_at)
    const id = payment?.data?.['id']
    if (payment?.provider_id?.startsWith('pp_paymesh_') && typeof id === 'string' && at > (refunds.get(id) ?? 0))
      refunds.set(id, at)
  }
  return refunds
}

/**
 * Decides about an invoice as it is now.
 * @param {MedusaContainer} container
 * @param {string} invoiceId
 * @param {string} changedAt
 */
async function settle(container, invoiceId, changedAt) {
  const paymesh = container.resolve('paymesh')
  await alone(container, invoiceId, async () => {
    const invoice = await paymesh.client.invoices.get(invoiceId)
    const sessionId = invoice.metadata?.['medusa_session']
    // An invoice of the workspace that no cart of this shop opened.
    if (sessionId === undefined) return
    const [row] = await paymesh.listPaymeshInvoices({ invoice_id: invoiceId })
    const returned = BigInt(row?.returned_base ?? 0)
    const { decision, refundedBase, reason, isFinished } = await decideNow(container, invoice, returned > 0n)
    const open = decision.toReturnBase + refundedBase - returned
    const [seen_at = ''] = [changedAt, invoice.updated_at].sort().reverse()
    const figures = {
      ...{ invoice_id: invoiceId, invoice_number: invoice.number, session_id: sessionId, reason },
      ...{ symbol: invoice.crypto?.symbol ?? '', decimals: invoice.crypto?.decimals ?? 0 },
      ...{ open_base: String(open > 0n ? open : 0n), is_finished: isFinished, seen_at },
    }
    if (row === undefined) await paymesh.createPaymeshInvoices(figures)
    else await paymesh.updatePaymeshInvoices({ id: row.id, ...figures })
  })
}

/**
 * The decision about an invoice by what Medusa has for its session; a paid cart without an order is completed first.
 * @param {MedusaContainer} container
 * @param {Invoice} invoice
 * @param {boolean} isReturned Some of its money was returned: it makes no order any more.
 */
async function decideNow(container, invoice, isReturned) {
  let found = await find(container, invoice)
  let failure = ''
  if (isPaid(invoice) && !isReturned && isIncomplete(found)) {
    failure = await complete(container, invoice)
    found = await find(container, invoice)
  }
  const isFailed = isPaid(invoice) && !isReturned && isIncomplete(found)
  const state = isFailed || (isReturned && found.state === 'open') ? 'cancelled' : found.state
  const decision = decide(state, invoice)
  const isEnded = decide('open', invoice).order !== 'open'
  const reason = isFailed
    ? failure || 'the cart could not become an order'
    : REASONS[found.refunded > 0 ? 'refunded' : state]
  return { decision, refundedBase: refundedBaseOf(found, invoice), reason, isFinished: isEnded && !isFailed }
}

/** @param {Invoice} invoice */
const isPaid = (invoice) => decide('open', invoice).order === 'shipped'

/**
 * Whether the cart of a session is still to become an order. What was refunded is never completed.
 * @param {Awaited<ReturnType<typeof find>>} found
 */
const isIncomplete = ({ state, cartId, orderId, refunded }) =>
  refunded === 0 && (state === 'open' || (state === 'shipped' && cartId !== undefined && orderId === undefined))

/**
 * What Medusa has for the session of an invoice.
 * @param {MedusaContainer} container
 * @param {Invoice} invoice
 */
async function find(container, { id, metadata }) {
  const query = container.resolve(ContainerRegistrationKeys.QUERY)
  const sessionId = metadata?.['medusa_session']
  const fields = ['data', 'amount', 'canceled_at', 'payment_collection_id', 'refunds.amount']
  const payments = await query.graph({ entity: 'payment', fields, filters: { payment_session_id: sessionId } })
  const payment = payments.data.find(({ data, canceled_at }) => data?.['id'] === id && !canceled_at)
  const sessions = await query.graph({
    entity: 'payment_session',
    fields: ['payment_collection_id'],
    filters: { id: sessionId },
  })
  const collection = payment?.payment_collection_id ?? sessions.data[0]?.payment_collection_id
  const carts =
    collection === undefined
      ? { data: [] }
      : await query.graph({
          entity: 'cart_payment_collection',
          fields: ['cart_id'],
          filters: { payment_collection_id: collection },
        })
  const cartId = carts.data[0]?.cart_id
  const orders =
    cartId === undefined
      ? { data: [] }
      : await query.graph({ entity: 'order_cart', fields: ['order_id'], filters: { cart_id: cartId } })
  const orderId = orders.data[0]?.order_id
  let refunded = 0
  for (const refund of payment?.refunds ?? []) refunded += Number(refund?.amount ?? 0)
  const price = Number(payment?.amount ?? 0)
  if (payment !== undefined) return { state: /** @type {const} */ ('shipped'), cartId, orderId, refunded, price }
  const isOpen = sessions.data.length > 0 && orderId === undefined
  const state = isOpen ? 'open' : sessions.data.length > 0 ? 'settled' : 'cancelled'
  return { state: /** @type {'open' | 'settled' | 'cancelled'} */ (state), cartId, orderId, refunded: 0, price }
}

/**
 * Makes the payment and the order, as a webhook does; returns why it failed, or nothing.
 * @param {MedusaContainer} container
 * @param {Invoice} invoice
 */
async function complete(container, { amount, metadata }) {
  const data = { session_id: metadata?.['medusa_session'], amount: amount.value }
  try {
    await container
      .resolve(Modules.WORKFLOW_ENGINE)
      .run(processPaymentWorkflowId, { input: { action: PaymentActions.SUCCESSFUL, data } })
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * The share of the coins that Medusa counts as refunded, rounded down.
 * @param {{ readonly refunded: number, readonly price: number }} found
 * @param {Invoice} invoice
 */
function refundedBaseOf({ refunded, price }, { crypto }) {
  if (refunded === 0 || crypto === null) return 0n
  return (BigInt(crypto.amount_base_units) * millionths(refunded)) / millionths(price)
}

/** @param {number} amount */
const millionths = (amount) => BigInt(Math.round(amount * 1e6))

/** Why money is to be returned. */
const REASONS = {
  open: 'the invoice ended without the whole price',
  released: 'the invoice ended without the whole price',
  shipped: 'more than the price of the order',
  settled: 'the order was paid in another way',
  cancelled: 'the session or the cart does not exist any more',
  refunded: 'refunded in Medusa',
}

/**
 * One after the other for one invoice.
 * @template T
 * @param {MedusaContainer} container
 * @param {string} invoiceId
 * @param {() => Promise<T>} work
 */
export function alone(container, invoiceId, work) {
  return container.resolve(Modules.LOCKING).execute(`paymesh-${invoiceId}`, work, { timeout: LOCK_S })
}
