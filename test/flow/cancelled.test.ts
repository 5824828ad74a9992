import { expect, test } from 'vitest'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

/** Cancelling is final; money that comes anyway is shown as a payment and never turns the invoice paid. */
test('a payment to a cancelled invoice changes nothing but is seen', async () => {
  const { createInvoice, merchant, pay, waitForEvent, getInvoice, eventTypes } = world()
  const invoice = await createInvoice()
  await merchant.invoices.cancel(invoice.id)
  await waitForEvent(invoice.id, 'invoice.cancelled')

  await pay(invoice)
  await waitForEvent(invoice.id, 'payment.confirmed')
  expect((await getInvoice(invoice.id)).status).toBe('cancelled')
  expect(eventTypes(invoice.id)).not.toContain('invoice.paid')
  const payments = await merchant.payments.list({ invoice_id: invoice.id }).page()
  expect(payments.data).toMatchObject([{ counted: false, uncounted_reason: 'cancelled' }])
})

/** An invoice that has received money cannot be cancelled. */
test('a partly paid invoice refuses to be cancelled', async () => {
  const { createInvoice, merchant, pay, waitForEvent } = world()
  const invoice = await createInvoice()
  await pay(invoice, 1_000_000n)
  await waitForEvent(invoice.id, 'invoice.partial')
  await expect(merchant.invoices.cancel(invoice.id)).rejects.toThrow('INVALID_STATE')
})
