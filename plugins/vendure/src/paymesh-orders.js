import { Inject } from '@nestjs/common'
import { createPaymesh, decide, PaymeshApiError } from '@paymesh/client'
import {
  ConfigService,
  HistoryService,
  isGraphQlErrorResult,
  Logger,
  Order,
  OrderService,
  PaymentMethodService,
  RequestContextService,
  TransactionalConnection,
  totalCoveredByPayments,
  UserInputError,
} from '@vendure/core'
import { toDecimal, toUnits } from './decimals.js'
import { HANDLER_CODE } from './payment-handler.js'
import { PaymeshInvoice } from './paymesh-invoice.js'

/** @typedef {import('@paymesh/client').Invoice} Invoice */
/** @typedef {import('@vendure/core').RequestContext} RequestContext */
/** @typedef {import('@vendure/core').Payment} Payment */

/** Token of the plug-in's settings. */
export const PAYMESH_OPTIONS = Symbol('PAYMESH_OPTIONS')

/** States in which Vendure takes a payment. */
const ARRANGING = ['ArrangingPayment', 'ArrangingAdditionalPayment']
/** States in which an order waits for money. */
export const WAITING = ['AddingItems', ...ARRANGING]
/** An order has more invoices that settle a part of it than this only if something is wrong. */
const PARTS_MAX = 20

/** Opens the invoices of orders and decides about them; everything may run at any time, at once and again. */
export class PaymeshOrders {
  /**
   * @param {import('./main.js').PaymeshOptions} options
   * @param {TransactionalConnection} connection
   * @param {OrderService} orders
   * @param {PaymentMethodService} methods
   * @param {HistoryService} history
   * @param {RequestContextService} contexts
   * @param {ConfigService} config
   */
  constructor(options, connection, orders, methods, history, contexts, config) {
    this.options = options
    this.client = createPaymesh(options)
    this.connection = connection
    this.orders = orders
    this.methods = methods
    this.history = history
    this.contexts = contexts
    /** Decimal places of the shop's amounts. */
    this.places = config.entityOptions.moneyStrategy.precision ?? 2
  }

  /**
   * The invoice by which the order is to be paid now: one that lives is continued, and the next attempt begins when the last one has ended.
   * One that is paid already settles the order; what the order still lacks then becomes another invoice.
   * @param {RequestContext} ctx
   * @param {import('@vendure/core').ID} orderId
   */
  async openInvoice(ctx, orderId) {
    for (let part = 0; part < PARTS_MAX; part += 1) {
      const order = await this.connection.getEntityOrThrow(ctx, Order, orderId)
      if (!ARRANGING.includes(order.state))
        throw new UserInputError(`The order is ${order.state}; move it to ArrangingPayment first.`)
      const payments = await this.orders.getOrderPayments(ctx, orderId)
      const due = dueOf(order, payments)
      if (due <= 0) throw new UserInputError('Nothing of the order is to be paid.')
      const series = `${order.code}-${(await this.#closedInvoices(ctx, order, payments)).size + 1}`
      const invoice = await this.client.invoices.ensure({
        amount: toDecimal(BigInt(due), this.places),
        currency: /** @type {import('@paymesh/client').InvoiceCreate['currency']} */ (order.currencyCode),
        order_id: series,
        description: `Order ${order.code}`,
        metadata: { vendure_order: order.code, vendure_channel: ctx.channel.token },
        success_url: this.options.successUrl?.(order.code) ?? null,
        cancel_url: this.options.cancelUrl?.(order.code) ?? null,
      })
      await this.settle(invoice)
      const { state } = await this.connection.getEntityOrThrow(ctx, Order, orderId)
      const isClosed = (await this.#closedInvoices(ctx, order, await this.orders.getOrderPayments(ctx, orderId))).has(
        invoice.id,
      )
      if (!isClosed || !ARRANGING.includes(state)) return { ...invoice, url: invoice.urls.checkout, orderState: state }
    }
    throw new Error(`order ${orderId} has more than ${PARTS_MAX} paid invoices`)
  }

  /**
   * Decides about every invoice of the order.
   * @param {string} orderCode
   */
  async settleAll(orderCode) {
    const rows = await this.connection.rawConnection.getRepository(PaymeshInvoice).findBy({ orderCode })
    for (const { invoiceId } of rows) await this.settle(await this.client.invoices.get(invoiceId))
  }

  /**
   * Decides about an order by its invoice. Money that the order cannot take is listed, also when adding it fails unexpectedly; that failure is
   * thrown, so that the delivery comes again.
   * @param {Invoice} invoice
   */
  async settle(invoice) {
    // An invoice of the workspace that no order of this shop opened.
    if (!invoice.metadata?.['vendure_order']) return
    let action
    try {
      const ctx = await this.contexts.create({
        apiType: 'admin',
        channelOrToken: invoice.metadata['vendure_channel'] ?? '',
      })
      action = await this.connection.withTransaction(ctx, (tx) => this.#settleLocked(tx, invoice, null))
    } catch (error) {
      Logger.error(`invoice ${invoice.id}: ${error}`, 'Paymesh')
      const ctx = await this.contexts.create({ apiType: 'admin' })
      await this.connection.withTransaction(ctx, (tx) => this.#settleLocked(tx, invoice, String(error)))
      throw error
    }
    if (action !== 'cancel_invoice') return
    await this.client.invoices.cancel(invoice.id).catch((error) => {
      // Money has come, or it has ended: its events say what to do.
      if (!(error instanceof PaymeshApiError && error.code === 'INVALID_STATE')) throw error
    })
  }

  /**
   * Under the lock of the order's row: on PostgreSQL three deliveries at once made three payments without it.
   * @param {RequestContext} ctx
   * @param {Invoice} invoice
   * @param {string | null} failure Why it was not added before; then nothing is added.
   */
  async #settleLocked(ctx, invoice, failure) {
    const { order, row } = await this.#lock(ctx, invoice.metadata?.['vendure_order'] ?? '', invoice.id)
    if (invoice.updated_at < row.seenAt) return 'none'
    const payments = order === null ? [] : await this.orders.getOrderPayments(ctx, order.id)
    const own = payments.find(({ transactionId, state }) => transactionId === invoice.id && state === 'Settled')
    const state = row.returnedBase !== '0' && own === undefined ? 'cancelled' : stateOf(order, payments, own)
    let decision = decide(state, invoice)
    let reason = failure ?? REASONS[state]
    if (order !== null && decision.action.endsWith('ship')) {
      const refusal = failure ?? (await this.#addPayment(ctx, order, invoice))
      const rest = dueOf(order, payments) - this.#priceOf(invoice)
      if (refusal !== null) decision = decide('cancelled', invoice)
      else row.surplusBase = this.#surplusBase(invoice, rest)
      if (refusal === null && rest > 0)
        await this.#note(ctx, order, `Paymesh invoice ${invoice.number} paid a part; the order waits for the rest.`)
      reason = refusal ?? REASONS.shipped
    } else if (own !== undefined && order?.state === 'ArrangingPayment' && dueOf(order, payments) <= 0) {
      // The cart became smaller than what was paid of it: Vendure checks that only when a payment is added.
      await this.orders.transitionToState(ctx, order.id, 'PaymentSettled')
      row.surplusBase = this.#surplusBase(invoice, dueOf(order, payments))
    }
    await this.#save(ctx, order, row, invoice, decision.toReturnBase + BigInt(row.surplusBase), reason)
    return decision.action
  }

  /**
   * Marks what was listed as returned. Refused when the figure has changed since it was read.
   * @param {RequestContext} ctx
   * @param {string} invoiceId
   * @param {string} amountBase
   */
  async markReturned(ctx, invoiceId, amountBase) {
    const seen = await this.connection.getRepository(ctx, PaymeshInvoice).findOneBy({ invoiceId, ...scopeOf(ctx) })
    if (seen === null) throw new UserInputError('There is no such invoice.')
    const { row } = await this.#lock(ctx, seen.orderCode, invoiceId)
    if (row.openBase !== amountBase) throw new UserInputError(`${row.openBase} base units are to be returned now.`)
    row.returnedBase = String(BigInt(row.returnedBase) + BigInt(row.openBase))
    row.openBase = '0'
    return this.connection.getRepository(ctx, PaymeshInvoice).save(row)
  }

  /**
   * The list for the merchant, oldest first.
   * @param {RequestContext} ctx
   * @param {number} skip
   */
  listMoney(ctx, skip) {
    const query = this.connection.getRepository(ctx, PaymeshInvoice).createQueryBuilder('row')
    return query.where("row.openBase <> '0'").andWhere(scopeOf(ctx)).orderBy('row.id').skip(skip).take(100).getMany()
  }

  /**
   * @param {RequestContext} ctx
   * @param {string} orderCode
   * @param {string} invoiceId
   */
  async #lock(ctx, orderCode, invoiceId) {
    const lock = /** @type {const} */ ({ mode: 'pessimistic_write' })
    const order = await this.connection.getRepository(ctx, Order).findOne({ where: { code: orderCode }, lock })
    const rows = this.connection.getRepository(ctx, PaymeshInvoice)
    // Its unique key refuses the second of two first rows, and that delivery comes again.
    return { order, row: (await rows.findOne({ where: { invoiceId }, lock })) ?? new PaymeshInvoice(BLANK) }
  }

  /**
   * Invoices that are done: their money is in the order, or was returned.
   * @param {RequestContext} ctx
   * @param {Order} order
   * @param {readonly Payment[]} payments
   */
  async #closedInvoices(ctx, order, payments) {
    const rows = await this.connection.getRepository(ctx, PaymeshInvoice).findBy({ orderCode: order.code })
    const returned = rows.filter(({ returnedBase }) => returnedBase !== '0').map(({ invoiceId }) => invoiceId)
    const added = payments.filter(({ state }) => state === 'Settled').map(({ transactionId }) => transactionId)
    const own = new Set(rows.map(({ invoiceId }) => invoiceId))
    return new Set([...returned, ...added.filter((id) => own.has(id))])
  }

  /**
   * What of a paid invoice the order does not need, because the cart has become smaller: the same share of the coins, rounded down.
   * @param {Invoice} invoice
   * @param {number} due What the order still lacks with the invoice's payment: below 0 when it has too much.
   */
  #surplusBase(invoice, due) {
    if (due >= 0) return '0'
    return String((BigInt(invoice.crypto?.amount_base_units ?? 0) * BigInt(-due)) / BigInt(this.#priceOf(invoice)))
  }

  /** @param {Invoice} invoice */
  #priceOf({ amount }) {
    return Number(toUnits(amount.value, this.places))
  }

  /**
   * Adds the payment of a paid invoice; Vendure settles the order when it is covered. Returns why the order cannot take it, or null.
   * @param {RequestContext} ctx
   * @param {Order} order
   * @param {Invoice} invoice
   * @returns {Promise<string | null>}
   */
  async #addPayment(ctx, order, invoice) {
    if (order.currencyCode !== invoice.amount.currency) return `the order is in ${order.currencyCode} now`
    const methods = await this.methods.findAll(ctx, { filter: { enabled: { eq: true } } })
    const method = methods.items.find(({ handler }) => handler.code === HANDLER_CODE)
    if (method === undefined) return 'no enabled payment method of the channel uses Paymesh'
    if (!ARRANGING.includes(order.state)) {
      const moved = await this.orders.transitionToState(ctx, order.id, 'ArrangingPayment')
      if (isGraphQlErrorResult(moved)) return moved.transitionError
    }
    const metadata = { amount: this.#priceOf(invoice), invoice: invoice.id, url: this.#linkTo(invoice.id) }
    const add = () => this.orders.addPaymentToOrder(ctx, order.id, { method: method.code, metadata })
    let added = await add()
    // A coupon that is spent was removed: the order keeps the money and waits for the rest.
    if (isGraphQlErrorResult(added) && added.errorCode === 'COUPON_REMOVED_DURING_CHECKOUT_ERROR') added = await add()
    return isGraphQlErrorResult(added) ? added.message : null
  }

  /**
   * @param {RequestContext} ctx
   * @param {Order | null} order
   * @param {InstanceType<typeof PaymeshInvoice>} row
   * @param {Invoice} invoice
   * @param {bigint} toReturn
   * @param {string} reason
   */
  async #save(ctx, order, row, invoice, toReturn, reason) {
    const { id: invoiceId, number: invoiceNumber, crypto, updated_at: seenAt } = invoice
    const before = row.openBase
    const open = toReturn - BigInt(row.returnedBase)
    Object.assign(row, { invoiceId, invoiceNumber, seenAt, reason, openBase: String(open > 0n ? open : 0n) })
    row.orderCode = invoice.metadata?.['vendure_order'] ?? ''
    row.channelToken = invoice.metadata?.['vendure_channel'] ?? ''
    row.toReturnBase = String(toReturn)
    if (crypto !== null) Object.assign(row, { symbol: crypto.symbol, decimals: crypto.decimals })
    await this.connection.getRepository(ctx, PaymeshInvoice).save(row)
    if (row.openBase === before || order === null) return
    const { amount, url } = this.present(row)
    const money = `${amount} ${row.symbol} to return to the customer (${reason})`
    await this.#note(ctx, order, `Paymesh invoice ${invoiceNumber}: ${money}. ${url}`)
  }

  /**
   * A note in the order's history that only the merchant sees.
   * @param {RequestContext} ctx
   * @param {Order} order
   * @param {string} note
   */
  async #note(ctx, order, note) {
    await this.history.createHistoryEntryForOrder({ ctx, orderId: order.id, type: ORDER_NOTE, data: { note } }, false)
  }

  /**
   * A row as the merchant reads it.
   * @param {InstanceType<typeof PaymeshInvoice>} row
   */
  present(row) {
    const amount = toDecimal(BigInt(row.openBase), row.decimals)
    return { ...row, amountBase: row.openBase, amount, url: this.#linkTo(row.invoiceId) }
  }

  /** @param {string} invoiceId */
  #linkTo(invoiceId) {
    return `${this.options.dashboardUrl.replace(/\/$/, '')}/invoices/${invoiceId}`
  }
}

/** The enumeration is not among the named exports that an ES module can import. */
const ORDER_NOTE = /** @type {any} */ ('ORDER_NOTE')
/** Figures of an invoice about which nothing was decided. */
const BLANK = {
  ...{ symbol: '', decimals: 0, reason: '', seenAt: '' },
  ...{ toReturnBase: '0', surplusBase: '0', returnedBase: '0', openBase: '0' },
}

/** Why money is to be returned, by the state of the order for an invoice. */
const REASONS = {
  open: 'the invoice ended without the whole price',
  released: 'the invoice ended without the whole price',
  shipped: 'more than the price of the order',
  settled: 'the order was paid in another way',
  cancelled: 'the order was cancelled or does not exist any more',
}

/**
 * The state of an order for one of its invoices, as the table of the client has it.
 * @param {Order | null} order
 * @param {Payment[]} payments
 * @param {Payment | undefined} own The payment of this invoice.
 */
function stateOf(order, payments, own) {
  if (own !== undefined) return 'shipped'
  if (order === null || order.state === 'Cancelled') return 'cancelled'
  return WAITING.includes(order.state) && dueOf(order, payments) > 0 ? 'open' : 'settled'
}

/**
 * What is still to be paid, in the shop's smallest units.
 * @param {Order} order
 * @param {Payment[]} payments
 */
function dueOf(order, payments) {
  return order.totalWithTax - totalCoveredByPayments(/** @type {any} */ ({ payments }))
}

/**
 * The default channel sees the rows of all channels, another one its own.
 * @param {RequestContext} ctx
 * @returns {{ channelToken?: string }}
 */
function scopeOf({ channel }) {
  return channel.code === '__default_channel__' ? {} : { channelToken: channel.token }
}

const PARAMETERS = [
  ...[PAYMESH_OPTIONS, TransactionalConnection, OrderService, PaymentMethodService],
  ...[HistoryService, RequestContextService, ConfigService],
]
PARAMETERS.forEach((type, index) => void Inject(type)(PaymeshOrders, undefined, index))
