import { expect, test } from 'vitest'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()

/** An invoice nobody pays expires once the scanner has passed its deadline. */
test('an unpaid invoice expires', async () => {
  const { createInvoice, moveDeadline, waitForEvent, getInvoice } = world()
  const invoice = await createInvoice()
  await moveDeadline(invoice.id, new Date())
  await waitForEvent(invoice.id, 'invoice.expired')
  expect((await getInvoice(invoice.id)).status).toBe('expired')
})

/** Money that came too late settles within the grace period, and says so. */
test('a late payment within the grace period settles as late', async () => {
  const { createInvoice, moveDeadline, pay, waitForEvent, eventTypes } = world()
  const invoice = await createInvoice()
  await moveDeadline(invoice.id, new Date())
  await waitForEvent(invoice.id, 'invoice.expired')

  await pay(invoice)
  await waitForEvent(invoice.id, 'invoice.late_payment')
  const paid = await waitForEvent(invoice.id, 'invoice.paid')
  expect(paid.data.object.flags).toEqual({ paid_late: true, underpaid_accepted: false })
  expect(eventTypes(invoice.id).filter((type) => type === 'invoice.late_payment')).toHaveLength(1)
})
