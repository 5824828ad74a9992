import { Inject } from '@nestjs/common'
import { createPaymesh, createWebhookHandler } from '@paymesh/client'
import { EventBus, Logger, OrderStateTransitionEvent, PluginCommonModule, VendurePlugin } from '@vendure/core'
import { AdminResolver, adminSchema, ShopResolver, shopSchema } from './graphql.js'
import { paymentHandler } from './payment-handler.js'
import { PaymeshInvoice } from './paymesh-invoice.js'
import { PAYMESH_OPTIONS, PaymeshOrders, WAITING } from './paymesh-orders.js'

/**
 * Settings of the plug-in.
 * @typedef {object} PaymeshOptions
 * @property {string} apiKey `pm_live_…` or `pm_test_…`, with the scopes `invoices:read` and `invoices:write`.
 * @property {string} baseUrl Address of the API, with `/api/v1`.
 * @property {string | readonly string[]} webhookSecret The endpoint's `whsec_…`; two while one is replaced.
 * @property {string} dashboardUrl Address of the Paymesh dashboard; links for the merchant begin with it.
 * @property {(orderCode: string) => string} [successUrl] The page of the shop to which the checkout links after payment.
 * @property {(orderCode: string) => string} [cancelUrl] The page of the shop to which the checkout links before payment.
 */

/** Where Paymesh delivers webhooks to. */
const ROUTE = '/paymesh/webhook'

/**
 * The plug-in: `plugins: [PaymeshPlugin.init({ … })]`. It adds the payment handler `paymesh`, the mutation `createPaymeshInvoice` of the
 * shop API, the list `paymeshMoneyToReturn` of the admin API and the route `/paymesh/webhook`.
 */
export class PaymeshPlugin {
  /** @type {PaymeshOptions | undefined} */
  static options
  /** @type {PaymeshOrders | undefined} */
  static orders

  /**
   * Keeps the settings. Throws when one is missing.
   * @param {PaymeshOptions} options
   */
  static init(options) {
    for (const name of /** @type {const} */ (['apiKey', 'baseUrl', 'webhookSecret', 'dashboardUrl']))
      if (!options[name]?.length) throw new TypeError(`the Paymesh plug-in needs ${name}`)
    PaymeshPlugin.options = options
    return PaymeshPlugin
  }

  /**
   * @param {PaymeshOrders} orders
   * @param {EventBus} events
   */
  constructor(orders, events) {
    this.orders = orders
    this.events = events
  }

  /** Receives deliveries from now on, and cancels the invoices of orders that are paid in another way or given up. */
  onApplicationBootstrap() {
    PaymeshPlugin.orders = this.orders
    this.events.ofType(OrderStateTransitionEvent).subscribe(({ fromState, order }) => {
      if (!WAITING.includes(fromState) || order.state === 'AddingItems') return
      void this.orders.settleAll(order.code).catch((error) => Logger.error(String(error), 'Paymesh'))
    })
  }
}

/** Before any parser of bodies: the signature is over the bytes. A failure is logged and answered with 500, so that the delivery comes again. */
const webhookRoute = () => {
  const { apiKey, baseUrl, webhookSecret } = optionsOf()
  const settle = async (/** @type {import('@paymesh/client').Invoice} */ invoice) => {
    if (PaymeshPlugin.orders === undefined) throw new Error('the shop is starting')
    await PaymeshPlugin.orders.settle(invoice)
  }
  const { node } = createWebhookHandler({
    client: createPaymesh({ apiKey, baseUrl }),
    secret: webhookSecret,
    ...{ paid: settle, partly: settle, ended: settle, waiting: settle },
  })
  /** @type {import('express').RequestHandler} */
  const handler = (request, response) => {
    response.on('finish', () => {
      if (response.statusCode >= 400) Logger.warn(`a delivery was answered with ${response.statusCode}`, 'Paymesh')
    })
    void node(request, response)
  }
  return { route: ROUTE, beforeListen: true, handler }
}

function optionsOf() {
  if (PaymeshPlugin.options === undefined) throw new Error('call PaymeshPlugin.init() with the settings')
  return PaymeshPlugin.options
}

;[PaymeshOrders, EventBus].forEach((type, index) => void Inject(type)(PaymeshPlugin, undefined, index))
VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: '^3.5.0',
  entities: [PaymeshInvoice],
  providers: [PaymeshOrders, { provide: PAYMESH_OPTIONS, useFactory: optionsOf }],
  shopApiExtensions: { schema: shopSchema, resolvers: [ShopResolver] },
  adminApiExtensions: { schema: adminSchema, resolvers: [AdminResolver] },
  configuration: (config) => {
    config.paymentOptions.paymentMethodHandlers.push(paymentHandler)
    config.apiOptions.middleware.push(webhookRoute())
    return config
  },
})(PaymeshPlugin)
