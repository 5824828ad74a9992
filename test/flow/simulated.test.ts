import { expect, test } from 'vitest'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

/** A merchant can rehearse every ending without a chain; simulated events look like real ones with livemode false. */
test.each([
  ['paid', 'invoice.paid'],
  ['partial', 'invoice.partial'],
  ['overpaid', 'invoice.overpaid'],
  ['expired', 'invoice.expired'],
] as const)('simulating %s from a new invoice ends in %s', async (scenario, type) => {
  const { merchant, waitForEvent } = world()
  const invoice = await merchant.invoices.create({ amount: '60.00', currency: 'EUR' })
  expect(invoice).toMatchObject({ status: 'new', crypto: null })
  const after = await merchant.invoices.simulate(invoice.id, scenario)
  expect(after.status).toBe(scenario)
  const event = await waitForEvent(invoice.id, type)
  expect(event.livemode).toBe(false)
  await waitForEvent(invoice.id, 'invoice.pending')
})

/** Partial, then paid: the simulation tops up exactly what is missing. */
test('a simulated partial payment can be completed', async () => {
  const { createInvoice, merchant } = world()
  const invoice = await createInvoice()
  await merchant.invoices.simulate(invoice.id, 'partial')
  const paid = await merchant.invoices.simulate(invoice.id, 'paid')
  expect(paid).toMatchObject({ status: 'paid', received: { amount: invoice.crypto?.amount } })
  await expect(merchant.invoices.simulate(invoice.id, 'paid')).rejects.toThrow('INVALID_STATE')
})
