import { expect, test } from 'vitest'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

/** A payer who sends too little can send the rest to the same address. */
test('a partial payment is topped up', async () => {
  const { createInvoice, pay, waitForEvent, eventTypes, getInvoice, receiver } = world()
  const invoice = await createInvoice()
  const due = BigInt(invoice.crypto?.amount_base_units ?? '0')

  await pay(invoice, due / 4n)
  const partial = await waitForEvent(invoice.id, 'invoice.partial')
  expect(partial.data.object.status).toBe('partial')

  await pay(invoice, due - due / 4n)
  await waitForEvent(invoice.id, 'invoice.paid')
  // Requests of one change may arrive in any order.
  const detected = () => eventTypes(invoice.id).filter((type) => type === 'payment.detected').length
  await receiver.waitFor(() => detected() === 2, 90_000)
  expect(await getInvoice(invoice.id)).toMatchObject({
    status: 'paid',
    received: { amount_base_units: due.toString(), confirmed_base_units: due.toString() },
    flags: { paid_late: false, underpaid_accepted: false },
  })
  const types = eventTypes(invoice.id)
  expect(types.filter((type) => type === 'payment.detected')).toHaveLength(2)
  expect(types.filter((type) => type === 'invoice.partial')).toHaveLength(1)
  expect(types.filter((type) => type === 'invoice.paid')).toHaveLength(1)
})
