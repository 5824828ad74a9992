import { createHmac } from 'node:crypto'
import { differences } from './differences.ts'
import type { Workspace } from './sandbox.ts'
import { until } from './until.ts'
import { moneyOf, openCart, orderOf, type VendureOrder, type VendureShop } from './vendure-shop.ts'

/** One pack and its postage, in cents. */
const ONE = 2_190
const TWO = ONE + 1_690

/** Every scene: what it promises, and the play, which resolves with what is wrong. */
export function vendureScenes(
  shop: VendureShop,
  { client, relay, secret, trigger }: Workspace,
): Readonly<Record<string, () => Promise<readonly string[]>>> {
  const delivered = (type: string, invoice: string): Promise<unknown> =>
    until(`${type} was delivered`, async () => relay.seen.some((one) => one.type === type && one.invoice === invoice))
  const inState = (id: string, state: string): Promise<VendureOrder> =>
    until(`the order is ${state}`, async () => {
      const order = await orderOf(shop, id)
      return order.state === state && order
    })
  /** Base units of the invoice on the list; null when it is not there. */
  const listed = async (invoice: string): Promise<string | null> =>
    (await moneyOf(shop)).find(({ invoiceId }) => invoiceId === invoice)?.amountBase ?? null
  const untilListed = (invoice: string, amountBase: string | null): Promise<true> =>
    until(`${amountBase} are listed`, async () => (await listed(invoice)) === amountBase)
  const rows = async (invoice: string): Promise<number> =>
    Number((await shop.sql(`select count(*) from payment where "transactionId" = '${invoice}'`))[0])
  const settledBy = (order: VendureOrder): readonly (readonly [string, number])[] =>
    order.payments
      .filter(({ state }) => state === 'Settled')
      .map(({ transactionId, amount }) => [transactionId, amount])
  const notes = (order: VendureOrder): number => order.history.items.filter(({ type }) => type === 'ORDER_NOTE').length
  const dueBase = async (id: string): Promise<bigint> =>
    BigInt((await client.invoices.get(id)).crypto?.amount_base_units ?? 0)

  return {
    'a paid invoice settles its order': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      const again = await cart.checkout()
      await client.invoices.simulate(invoice.id, 'paid')
      const order = await inState(cart.id, 'PaymentSettled')
      const { order_id } = await client.invoices.get(invoice.id)
      return differences(
        { sameInvoice: again.id, settled: settledBy(order), listed: await listed(invoice.id), key: order_id },
        { sameInvoice: invoice.id, settled: [[invoice.id, ONE]], listed: null, key: `${cart.code}-1` },
      )
    },
    'three webhooks at once make one payment': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      relay.copies = 3
      await client.invoices.simulate(invoice.id, 'paid')
      const order = await inState(cart.id, 'PaymentSettled')
      await delivered('invoice.paid', invoice.id)
      relay.copies = 1
      return differences(
        { settled: settledBy(order), rows: await rows(invoice.id) },
        { settled: [[invoice.id, ONE]], rows: 1 },
      )
    },
    'a second payment of an invoice is listed, and so is another attempt that is paid late': async () => {
      const cart = await openCart(shop)
      const first = await cart.checkout()
      await client.invoices.simulate(first.id, 'expired')
      const second = await cart.checkout()
      await client.invoices.simulate(second.id, 'paid')
      await inState(cart.id, 'PaymentSettled')
      await trigger('payment.confirmed', second.id)
      await untilListed(second.id, String(await dueBase(second.id)))
      await trigger('payment.confirmed', first.id)
      await untilListed(first.id, String(await dueBase(first.id)))
      const order = await orderOf(shop, cart.id)
      return differences(
        { attempts: first.id !== second.id, state: order.state, settled: settledBy(order), notes: notes(order) },
        { attempts: true, state: 'PaymentSettled', settled: [[second.id, ONE]], notes: 2 },
      )
    },
    'a cart that has grown keeps the money and waits for the rest': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await cart.move('AddingItems')
      await cart.add()
      await client.invoices.simulate(invoice.id, 'paid')
      await inState(cart.id, 'ArrangingPayment')
      const rest = await cart.checkout()
      const { amount } = await client.invoices.get(rest.id)
      await client.invoices.simulate(rest.id, 'paid')
      const order = await inState(cart.id, 'PaymentSettled')
      return differences(
        {
          rest: amount.value,
          settled: settledBy(order),
          notes: notes(order),
          listed: [await listed(invoice.id), await listed(rest.id)],
        },
        {
          rest: '16.90',
          notes: 1,
          settled: [
            [invoice.id, ONE],
            [rest.id, TWO - ONE],
          ],
          listed: [null, null],
        },
      )
    },
    'a cart that has grown is paid by a new invoice, and the old one is cancelled': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await cart.move('AddingItems')
      await cart.add()
      const next = await cart.checkout()
      await client.invoices.simulate(next.id, 'paid')
      const order = await inState(cart.id, 'PaymentSettled')
      const { status } = await client.invoices.get(invoice.id)
      return differences({ status, settled: settledBy(order) }, { status: 'cancelled', settled: [[next.id, TWO]] })
    },
    'a cart that has shrunk is settled, and what is above its price is listed': async () => {
      const cart = await openCart(shop)
      await cart.add()
      const invoice = await cart.checkout()
      await cart.move('AddingItems')
      await cart.remove()
      await client.invoices.simulate(invoice.id, 'paid')
      const order = await inState(cart.id, 'PaymentSettled')
      const surplus = ((await dueBase(invoice.id)) * BigInt(TWO - ONE)) / BigInt(TWO)
      return differences(
        { settled: settledBy(order), listed: await listed(invoice.id), notes: notes(order) },
        { settled: [[invoice.id, TWO]], listed: String(surplus), notes: 1 },
      )
    },
    'a cart that has grown, was paid in part and shrinks again is settled': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await cart.move('AddingItems')
      await cart.add()
      await client.invoices.simulate(invoice.id, 'paid')
      await inState(cart.id, 'ArrangingPayment')
      await cart.move('AddingItems')
      await cart.remove()
      await cart.move('ArrangingPayment')
      const order = await inState(cart.id, 'PaymentSettled')
      return differences(
        { settled: settledBy(order), listed: await listed(invoice.id) },
        { settled: [[invoice.id, ONE]], listed: null },
      )
    },
    'a customer who went back to the cart and pays has an order': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await cart.move('AddingItems')
      await client.invoices.simulate(invoice.id, 'paid')
      const order = await inState(cart.id, 'PaymentSettled')
      return differences({ settled: settledBy(order) }, { settled: [[invoice.id, ONE]] })
    },
    'a cancelled order cancels its invoice, and what is paid afterwards is listed': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await trigger('invoice.pending', invoice.id)
      await shop.admin('mutation($id: ID!) { cancelOrder(input: { orderId: $id }) { __typename } }', { id: cart.id })
      await until(
        'the invoice is cancelled',
        async () => (await client.invoices.get(invoice.id)).status === 'cancelled',
      )
      await trigger('payment.confirmed', invoice.id)
      await untilListed(invoice.id, String(await dueBase(invoice.id)))
      const order = await orderOf(shop, cart.id)
      return differences(
        { state: order.state, settled: settledBy(order), notes: notes(order) },
        { state: 'Cancelled', settled: [], notes: 1 },
      )
    },
    'money of an order that does not exist any more is listed': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await shop.sql(`update "order" set code = 'gone-' || code where id = ${cart.id}`)
      await client.invoices.simulate(invoice.id, 'paid')
      await untilListed(invoice.id, String(await dueBase(invoice.id)))
      return differences({ rows: await rows(invoice.id) }, { rows: 0 })
    },
    'a part that came before the end is listed, and the next attempt settles the order': async () => {
      const cart = await openCart(shop)
      const first = await cart.checkout()
      await client.invoices.simulate(first.id, 'partial')
      const stillOwed = (await cart.checkout()).id
      await client.invoices.simulate(first.id, 'expired')
      const { received } = await client.invoices.get(first.id)
      await untilListed(first.id, received.confirmed_base_units)
      const second = await cart.checkout()
      await client.invoices.simulate(second.id, 'paid')
      const order = await inState(cart.id, 'PaymentSettled')
      const mark = (amountBase: string) =>
        shop
          .admin(
            'mutation($id: String!, $amountBase: String!) { markPaymeshMoneyReturned(invoiceId: $id, amountBase: $amountBase) { amountBase } }',
            { id: first.id, amountBase },
          )
          .then(
            () => true,
            () => false,
          )
      const marks = [await mark('1'), await mark(received.confirmed_base_units)]
      return differences(
        { continued: stillOwed, settled: settledBy(order), marks, listed: await listed(first.id) },
        { continued: first.id, settled: [[second.id, ONE]], marks: [false, true], listed: null },
      )
    },
    'an order that is paid late is settled, and what was listed before is not to be returned': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await client.invoices.simulate(invoice.id, 'partial')
      await client.invoices.simulate(invoice.id, 'expired')
      const { received } = await client.invoices.get(invoice.id)
      await untilListed(invoice.id, received.confirmed_base_units)
      await trigger('invoice.paid', invoice.id)
      const order = await inState(cart.id, 'PaymentSettled')
      const { flags } = await client.invoices.get(invoice.id)
      await untilListed(invoice.id, null)
      return differences(
        { late: flags.paid_late, settled: settledBy(order) },
        { late: true, settled: [[invoice.id, ONE]] },
      )
    },
    'money that was returned never settles an order': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await client.invoices.simulate(invoice.id, 'partial')
      await client.invoices.simulate(invoice.id, 'expired')
      const { received } = await client.invoices.get(invoice.id)
      await untilListed(invoice.id, received.confirmed_base_units)
      await shop.admin(
        'mutation($id: String!, $amountBase: String!) { markPaymeshMoneyReturned(invoiceId: $id, amountBase: $amountBase) { amountBase } }',
        { id: invoice.id, amountBase: received.confirmed_base_units },
      )
      await trigger('invoice.paid', invoice.id)
      await untilListed(invoice.id, String((await dueBase(invoice.id)) - BigInt(received.confirmed_base_units)))
      const next = await cart.checkout()
      return differences(
        { settled: settledBy(await orderOf(shop, cart.id)), next: next.id === invoice.id },
        { settled: [], next: false },
      )
    },
    'an order that is paid in another way cancels its invoice': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await shop.admin(
        'mutation($id: ID!) { addManualPaymentToOrder(input: { orderId: $id, method: "bank", transactionId: "b1", metadata: {} }) { __typename } }',
        { id: cart.id },
      )
      await inState(cart.id, 'PaymentSettled')
      await until(
        'the invoice is cancelled',
        async () => (await client.invoices.get(invoice.id)).status === 'cancelled',
      )
      return differences({ rows: await rows(invoice.id) }, { rows: 0 })
    },
    'nobody settles an order but a paid invoice': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      const metadata = { invoice: invoice.id, amount: ONE }
      const { added } = await cart.query<{ added: { errorCode?: string } }>(
        'mutation($input: PaymentInput!) { added: addPaymentToOrder(input: $input) { ... on ErrorResult { errorCode } } }',
        { input: { method: 'crypto', metadata } },
      )
      const body = JSON.stringify({
        ...{ id: 'evt_1', object: 'event', type: 'invoice.paid' },
        data: { object: { id: invoice.id, object: 'invoice', status: 'paid' } },
      })
      const send = async (key: string): Promise<number> => {
        const t = Math.floor(Date.now() / 1_000)
        const v1 = createHmac('sha256', key).update(`${t}.${body}`).digest('hex')
        const headers = { 'x-webhook-signature': `t=${t},v1=${v1}` }
        return (await fetch(relay.target, { method: 'POST', headers, body })).status
      }
      const answers = [await send('whsec_of_another'), await send(secret)]
      const order = await orderOf(shop, cart.id)
      return differences(
        { added: added.errorCode, answers, state: order.state, settled: settledBy(order) },
        { added: 'PAYMENT_DECLINED_ERROR', answers: [400, 204], state: 'ArrangingPayment', settled: [] },
      )
    },
    'a refund is pending until the merchant settles it': async () => {
      const cart = await openCart(shop)
      const invoice = await cart.checkout()
      await client.invoices.simulate(invoice.id, 'paid')
      const { payments } = await inState(cart.id, 'PaymentSettled')
      const { refund } = await shop.admin<{
        refund: { id: string; state: string; message?: string }
      }>(
        'mutation($id: ID!) { refund: refundOrder(input: { paymentId: $id, amount: 500, shipping: 0, adjustment: 0, reason: "broken" }) { ... on Refund { id state } ... on ErrorResult { message } } }',
        { id: payments[0]?.id },
      )
      if (refund.message !== undefined) return [refund.message]
      const { settled } = await shop.admin<{ settled: { state: string } }>(
        'mutation($id: ID!) { settled: settleRefund(input: { id: $id, transactionId: "0xabc" }) { ... on Refund { state } } }',
        { id: refund.id },
      )
      return differences(
        {
          states: [refund.state, settled.state],
          link: payments[0]?.metadata.url?.endsWith(`/invoices/${invoice.id}`),
        },
        { states: ['Pending', 'Settled'], link: true },
      )
    },
  }
}
