import { expect, test } from 'vitest'
import { expectPaidOnce } from '#test/support/expect-paid-once.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()
const EVENTS = [
  'invoice.confirming',
  'invoice.created',
  'invoice.paid',
  'invoice.pending',
  'payment.confirmed',
  'payment.detected',
]

/** A merchant who is paid exactly sees each event once, in order, and one counted payment. */
test('an exact transfer pays the invoice', async () => {
  const { createInvoice, pay, waitForEvent, eventTypes, distinctEvents, receiver } = world()
  const invoice = await createInvoice()
  expect(invoice.status).toBe('pending')
  const txHash = await pay(invoice)

  const paid = await waitForEvent(invoice.id, 'invoice.paid')
  expect(paid.data.object.status).toBe('paid')
  expect(paid.data.object.received.amount).toBe(invoice.crypto?.amount)
  // Requests of one change may arrive in any order.
  await receiver.waitFor(() => EVENTS.every((type) => eventTypes(invoice.id).includes(type)), 90_000)
  expect(eventTypes(invoice.id).toSorted()).toEqual(EVENTS)
  await expectPaidOnce(world(), invoice)
  const detected = distinctEvents(invoice.id).find((event) => event.type === 'payment.detected')
  expect(detected?.data.payment?.tx_hash).toBe(txHash)
})

/** A batched withdrawal is as good as any other transfer: the native coin pays too. */
test('a native transfer pays an invoice in ether', async () => {
  const { createInvoice, pay, waitForEvent } = world()
  const invoice = await createInvoice({ asset: 'eth_ethereum', amount: '40.00' })
  await pay(invoice)
  const paid = await waitForEvent(invoice.id, 'invoice.paid')
  expect(paid.data.object.received.confirmed_base_units).toBe(invoice.crypto?.amount_base_units)
})
