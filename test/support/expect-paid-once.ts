import { expect } from 'vitest'
import type { Invoice } from '#clients/typescript/src/main.ts'
import type { World } from './world.ts'

/** `invoice.confirming` may be missing: a payment first looked at when it is confirmed skips that state without an event. */
const PAID_EVENTS = ['invoice.created', 'invoice.paid', 'invoice.pending', 'payment.confirmed', 'payment.detected']

/** Ends paid: each event arrived and no two of one type, and the payment counted exactly once. */
export async function expectPaidOnce(world: World, { id, crypto }: Invoice, timeoutMs = 60_000): Promise<void> {
  await world.waitForEvent(id, 'invoice.paid', timeoutMs)
  await world.receiver.waitFor(() => PAID_EVENTS.every((type) => world.eventTypes(id).includes(type)), 90_000)
  const announced = world.eventTypes(id).filter((type) => type !== 'invoice.confirming')
  expect(announced.toSorted()).toEqual(PAID_EVENTS)
  expect((await world.getInvoice(id)).received).toMatchObject({ confirmed_base_units: crypto?.amount_base_units })
  const payments = await world.merchant.payments.list({ invoice_id: id }).page()
  expect(payments.data).toMatchObject([
    { counted: true, status: 'confirmed', amount_base_units: crypto?.amount_base_units },
  ])
}
