import { expect, test } from 'vitest'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

/** Too much money is told as such, once it is confirmed. */
test('an overpayment ends overpaid', async () => {
  const { createInvoice, pay, waitForEvent, eventTypes } = world()
  const invoice = await createInvoice()
  const due = BigInt(invoice.crypto?.amount_base_units ?? '0')
  const more = due + due / 10n
  await pay(invoice, more)
  const over = await waitForEvent(invoice.id, 'invoice.overpaid')
  expect(over.data.object.received.confirmed_base_units).toBe(more.toString())
  expect(eventTypes(invoice.id)).not.toContain('invoice.paid')
})
