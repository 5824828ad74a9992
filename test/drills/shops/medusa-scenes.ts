import { createHmac } from 'node:crypto'
import { differences } from './differences.ts'
import { good, type MedusaShop, openCart } from './medusa-shop.ts'
import type { Workspace } from './sandbox.ts'
import { until } from './until.ts'

/** The job runs each minute. */
const JOB_MS = 180_000

interface Money {
  readonly invoice_id: string
  readonly amount_base: string
  readonly reason: string
}

/** Every scene: what it promises, and the play, which resolves with what is wrong. Those of a group may be played at once. */
export function medusaScenes(
  shop: MedusaShop,
  { client, relay, secret, trigger }: Workspace,
): readonly Readonly<Record<string, () => Promise<readonly string[]>>>[] {
  const orders = (cart: string): Promise<readonly string[]> =>
    shop.sql(
      `select o.id from order_cart c join "order" o on o.id = c.order_id
       where c.cart_id = '${cart}' and c.deleted_at is null and o.deleted_at is null`,
    )
  /** Rows of payments and captures of a session. */
  const paid = (session: string): Promise<readonly string[]> =>
    shop.sql(
      `select p.amount, count(c.id), sum(c.amount) from payment p left join capture c on c.payment_id = p.id where p.payment_session_id = '${session}' and p.deleted_at is null group by p.id`,
    )
  const untilOrder = (cart: string): Promise<true> =>
    until('the order is there', async () => (await orders(cart)).length > 0, JOB_MS)
  const money = async (invoice: string): Promise<Money | undefined> =>
    (
      await good(shop.admin<{ money_to_return: readonly Money[] }>('GET', '/admin/paymesh/money-to-return'))
    ).money_to_return.find(({ invoice_id }) => invoice_id === invoice)
  const untilListed = (invoice: string, amountBase: string): Promise<true> =>
    until(
      `${amountBase} of ${invoice} are listed`,
      async () => (await money(invoice))?.amount_base === amountBase,
      JOB_MS,
    )
  const mark = async (invoice_id: string, amount_base: string): Promise<number> =>
    (await shop.admin('POST', '/admin/paymesh/money-to-return', { invoice_id, amount_base })).status
  const dueBase = async (id: string): Promise<string> => (await client.invoices.get(id)).crypto?.amount_base_units ?? ''
  const one = ['10|1|10']

  const alone = {
    'three webhooks at once make one order and one payment': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      relay.copies = 3
      await client.invoices.simulate(invoice, 'paid')
      await untilOrder(cart.id)
      relay.copies = 1
      return differences(
        { orders: (await orders(cart.id)).length, paid: await paid(session) },
        { orders: 1, paid: one },
      )
    },
  }
  const together = {
    'a paid invoice makes an order, though the browser never comes back': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      await client.invoices.simulate(invoice, 'paid')
      await untilOrder(cart.id)
      const { order_id } = await client.invoices.get(invoice)
      return differences(
        { paid: await paid(session), key: order_id, listed: await money(invoice) },
        { paid: one, key: session, listed: undefined },
      )
    },
    'a second payment of an invoice is listed, and so is a replaced session that is paid': async () => {
      const cart = await openCart(shop)
      const first = await cart.checkout()
      await trigger('invoice.pending', first.invoice)
      const second = await cart.checkout()
      await client.invoices.simulate(second.invoice, 'paid')
      await untilOrder(cart.id)
      const { status } = await client.invoices.get(first.invoice)
      await trigger('payment.confirmed', second.invoice)
      await trigger('payment.confirmed', first.invoice)
      await untilListed(second.invoice, await dueBase(second.invoice))
      await untilListed(first.invoice, await dueBase(first.invoice))
      return differences(
        {
          status,
          orders: (await orders(cart.id)).length,
          paid: [await paid(first.session), await paid(second.session)],
        },
        { status: 'cancelled', orders: 1, paid: [[], one] },
      )
    },
    'a cart that has grown cancels its invoice, and what is paid for it is listed': async () => {
      const cart = await openCart(shop)
      const first = await cart.checkout()
      await trigger('invoice.pending', first.invoice)
      await cart.add()
      await until(
        'the invoice is cancelled',
        async () => (await client.invoices.get(first.invoice)).status === 'cancelled',
      )
      await trigger('payment.confirmed', first.invoice)
      await untilListed(first.invoice, await dueBase(first.invoice))
      const before = (await orders(cart.id)).length
      const second = await cart.checkout()
      await client.invoices.simulate(second.invoice, 'paid')
      await untilOrder(cart.id)
      return differences({ before, paid: await paid(second.session) }, { before: 0, paid: ['20|1|20'] })
    },
    'money for a cart that has grown meanwhile is listed': async () => {
      const cart = await openCart(shop)
      const first = await cart.checkout()
      await client.invoices.simulate(first.invoice, 'partial')
      await cart.add()
      await client.invoices.simulate(first.invoice, 'paid')
      await untilListed(first.invoice, await dueBase(first.invoice))
      return differences({ orders: await orders(cart.id), paid: await paid(first.session) }, { orders: [], paid: [] })
    },
    'a customer who goes back to the cart and returns has one order': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      const before = await cart.complete()
      await client.invoices.simulate(invoice, 'paid')
      await Promise.all([cart.complete(), cart.complete()])
      await untilOrder(cart.id)
      const after = await until('the cart is complete', async () => (await cart.complete()) === 'order')
      return differences(
        { before, after, orders: (await orders(cart.id)).length, paid: await paid(session) },
        { before: '400', after: true, orders: 1, paid: one },
      )
    },
    'a part that came before the end is listed, and the next attempt makes the order': async () => {
      const cart = await openCart(shop)
      const first = await cart.checkout()
      await client.invoices.simulate(first.invoice, 'partial')
      await client.invoices.simulate(first.invoice, 'expired')
      const { received } = await client.invoices.get(first.invoice)
      await untilListed(first.invoice, received.confirmed_base_units)
      const second = await cart.checkout()
      await client.invoices.simulate(second.invoice, 'paid')
      await untilOrder(cart.id)
      const marks = [await mark(first.invoice, '1'), await mark(first.invoice, received.confirmed_base_units)]
      return differences(
        { paid: await paid(second.session), marks, listed: await money(first.invoice) },
        { paid: one, marks: [409, 200], listed: undefined },
      )
    },
    'a cart that is paid late becomes an order, and what was listed before is not to be returned': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      await client.invoices.simulate(invoice, 'partial')
      await client.invoices.simulate(invoice, 'expired')
      await untilListed(invoice, (await client.invoices.get(invoice)).received.confirmed_base_units)
      await trigger('invoice.paid', invoice)
      await untilOrder(cart.id)
      await until('nothing is listed', async () => (await money(invoice)) === undefined, JOB_MS)
      const { flags } = await client.invoices.get(invoice)
      return differences({ late: flags.paid_late, paid: await paid(session) }, { late: true, paid: one })
    },
    'money that was returned never makes an order': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      await client.invoices.simulate(invoice, 'partial')
      await client.invoices.simulate(invoice, 'expired')
      const { received } = await client.invoices.get(invoice)
      await untilListed(invoice, received.confirmed_base_units)
      await mark(invoice, received.confirmed_base_units)
      await trigger('invoice.paid', invoice)
      await untilListed(invoice, String(BigInt(await dueBase(invoice)) - BigInt(received.confirmed_base_units)))
      return differences({ orders: await orders(cart.id), paid: await paid(session) }, { orders: [], paid: [] })
    },
    'nobody makes an order but by a paid invoice of the session': async () => {
      const [paying, thief] = [await openCart(shop), await openCart(shop)]
      const first = await paying.checkout()
      await client.invoices.simulate(first.invoice, 'paid')
      await untilOrder(paying.id)
      const forged = { id: first.invoice, session_id: first.session, status: 'captured' }
      const second = await thief.checkout(forged)
      const { status } = await client.invoices.get(second.invoice)
      const body = JSON.stringify({
        ...{ id: 'evt_1', object: 'event', type: 'invoice.paid' },
        data: { object: { id: second.invoice, object: 'invoice', status: 'paid' } },
      })
      const send = async (key: string): Promise<void> => {
        const t = Math.floor(Date.now() / 1_000)
        const v1 = createHmac('sha256', key).update(`${t}.${body}`).digest('hex')
        await fetch(relay.target, {
          method: 'POST',
          headers: { 'x-webhook-signature': `t=${t},v1=${v1}`, 'content-type': 'application/json' },
          body,
        })
      }
      await send('whsec_of_another')
      await send(secret)
      const { emptied } = { emptied: await thief.complete() }
      return differences(
        { own: second.invoice !== first.invoice, status, completed: emptied, orders: await orders(thief.id) },
        { own: true, status: 'new', completed: '400', orders: [] },
      )
    },
    'a refund counts at once in Medusa, and is listed until it is marked as returned': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      await client.invoices.simulate(invoice, 'paid')
      await untilOrder(cart.id)
      const [payment] = await until('the payment is there', async () => {
        const rows = await shop.sql(
          `select id from payment where payment_session_id = '${session}' and captured_at is not null`,
        )
        return rows.length > 0 && rows
      })
      await good(shop.admin('POST', `/admin/payments/${payment}/refund`, { amount: 4 }))
      const share = String((BigInt(await dueBase(invoice)) * 4n) / 10n)
      await untilListed(invoice, share)
      const { reason } = (await money(invoice)) ?? {}
      return differences(
        { reason, marked: await mark(invoice, share), listed: await money(invoice) },
        { reason: 'refunded in Medusa', marked: 200, listed: undefined },
      )
    },
  }
  const restarted = {
    'what the event bus loses in a restart becomes an order by the job': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      await client.invoices.simulate(invoice, 'paid')
      await until('the delivery was answered', async () =>
        relay.seen.some((seen) => seen.type === 'invoice.paid' && seen.invoice === invoice),
      )
      await shop.restart()
      const before = (await orders(cart.id)).length
      await untilOrder(cart.id)
      return differences({ before, paid: await paid(session) }, { before: 0, paid: one })
    },
  }
  const lost = {
    'a delivery that never comes becomes an order by the job': async () => {
      const cart = await openCart(shop)
      const { session, invoice } = await cart.checkout()
      relay.copies = 0
      await client.invoices.simulate(invoice, 'paid')
      await untilOrder(cart.id)
      relay.copies = 1
      return differences({ paid: await paid(session) }, { paid: one })
    },
  }
  return [alone, together, lost, restarted]
}
