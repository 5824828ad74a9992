import { Inject } from '@nestjs/common'
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql'
import { ActiveOrderService, Allow, Ctx, Permission, Transaction, UserInputError } from '@vendure/core'
import { parse } from 'graphql'
import { PaymeshOrders } from './paymesh-orders.js'

/** @typedef {import('@vendure/core').RequestContext} RequestContext */

/** What the shop API has more. */
export const shopSchema = parse(`
  "The invoice by which the active order is paid. Send the customer to url unless orderState says that the order is paid."
  type PaymeshInvoice { id: String!, url: String!, status: String!, orderState: String! }
  extend type Mutation { createPaymeshInvoice: PaymeshInvoice! }
`)

/** What the admin API has more. */
export const adminSchema = parse(`
  "Money of an invoice that the shop cannot keep; amount in coins, amountBase in their base units."
  type PaymeshMoney {
    invoiceId: String!, invoiceNumber: Int!, orderCode: String!, amount: String!, amountBase: String!, symbol: String!, reason: String!, url: String!
  }
  extend type Query { paymeshMoneyToReturn(skip: Int = 0): [PaymeshMoney!]! }
  extend type Mutation { markPaymeshMoneyReturned(invoiceId: String!, amountBase: String!): PaymeshMoney! }
`)

/** Lets the customer pay the active order. */
export class ShopResolver {
  /**
   * @param {PaymeshOrders} orders
   * @param {ActiveOrderService} active
   */
  constructor(orders, active) {
    this.orders = orders
    this.active = active
  }

  /** @param {RequestContext} ctx */
  async createPaymeshInvoice(ctx) {
    const order = await this.active.getActiveOrder(ctx, undefined)
    if (order === undefined) throw new UserInputError('There is no active order.')
    return this.orders.openInvoice(ctx, order.id)
  }
}

/** The merchant's list of money to return. */
export class AdminResolver {
  /** @param {PaymeshOrders} orders */
  constructor(orders) {
    this.orders = orders
  }

  /**
   * @param {RequestContext} ctx
   * @param {number} skip
   */
  async paymeshMoneyToReturn(ctx, skip) {
    return (await this.orders.listMoney(ctx, skip)).map((row) => this.orders.present(row))
  }

  /**
   * @param {RequestContext} ctx
   * @param {string} invoiceId
   * @param {string} amountBase
   */
  async markPaymeshMoneyReturned(ctx, invoiceId, amountBase) {
    return this.orders.present(await this.orders.markReturned(ctx, invoiceId, amountBase))
  }
}

/**
 * Applies decorators to a method and its parameters.
 * @param {{ prototype: object }} type
 * @param {string} name
 * @param {readonly MethodDecorator[]} method
 * @param {readonly ParameterDecorator[]} parameters
 */
function decorate({ prototype }, name, method, parameters) {
  parameters.forEach((one, index) => void one(prototype, name, index))
  const descriptor = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(prototype, name))
  for (const one of method) one(prototype, name, descriptor)
}

Resolver()(ShopResolver)
Resolver()(AdminResolver)
;[PaymeshOrders, ActiveOrderService].forEach((type, index) => void Inject(type)(ShopResolver, undefined, index))
Inject(PaymeshOrders)(AdminResolver, undefined, 0)
decorate(ShopResolver, 'createPaymeshInvoice', [Mutation(), Allow(Permission.Owner)], [Ctx()])
decorate(AdminResolver, 'paymeshMoneyToReturn', [Query(), Allow(Permission.ReadOrder)], [Ctx(), Args('skip')])
decorate(
  ...[AdminResolver, 'markPaymeshMoneyReturned'],
  [Mutation(), Transaction(), Allow(Permission.UpdateOrder)],
  [Ctx(), Args('invoiceId'), Args('amountBase')],
)
