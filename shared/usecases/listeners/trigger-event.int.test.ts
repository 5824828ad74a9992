import { beforeAll, expect, it } from 'vitest'
import type { EventType, InvoiceStatus } from '#shared/domain/enumerations.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { triggerEvent } from './trigger-event.ts'

const stores = useStores()
let engine: Engine

beforeAll(async () => {
  engine = await openEngine(stores)
})

const announced = async (id: string) =>
  (await engine.deps.invoices.findById(id))?.outbox.flatMap((entry) => (entry.kind === 'event' ? [entry.type] : []))

// Guarantee: every payment that costs a shop money can be tried on its own order: late, second, topped up, and not confirmed yet.
it.each<[string, readonly (readonly [EventType, InvoiceStatus])[]]>([
  [
    'unconfirmed, then paid, then twice more',
    [
      ['invoice.confirming', 'confirming'],
      ['invoice.paid', 'paid'],
      ['payment.confirmed', 'overpaid'],
      ['payment.confirmed', 'overpaid'],
    ],
  ],
  [
    'part by part',
    [
      ['invoice.partial', 'partial'],
      ['payment.detected', 'confirming'],
      ['payment.confirmed', 'paid'],
      ['invoice.overpaid', 'overpaid'],
    ],
  ],
  [
    'expired with a part, and paid late',
    [
      ['invoice.partial', 'partial'],
      ['invoice.expired', 'expired'],
      ['invoice.late_payment', 'paid'],
    ],
  ],
  [
    'paid after it was cancelled',
    [
      ['invoice.pending', 'pending'],
      ['invoice.cancelled', 'cancelled'],
      ['payment.confirmed', 'cancelled'],
    ],
  ],
])('an invoice of the shop: %s', async (_, steps) => {
  const { terms } = await engine.open()
  for (const [type, status] of steps) {
    const subject = { invoiceId: terms.id }
    await triggerEvent(engine.deps as never, { workspace: engine.workspace, type, subject })
    expect((await engine.deps.invoices.findById(terms.id))?.state.status).toBe(status)
    expect(await announced(terms.id)).toContain(type)
  }
})

it.each<[EventType, readonly EventType[]]>([
  ['invoice.expired', ['invoice.overpaid']],
  ['invoice.paid', ['invoice.cancelled']],
  ['invoice.overpaid', ['invoice.expired']],
  ['invoice.created', []],
])('%s cannot follow after %j', async (type, before) => {
  const { terms } = await engine.open({ asset: 'usdt_ethereum' })
  const subject = { invoiceId: terms.id }
  for (const one of before)
    await triggerEvent(engine.deps as never, { workspace: engine.workspace, type: one, subject })
  await expect(triggerEvent(engine.deps as never, { workspace: engine.workspace, type, subject })).rejects.toThrow(
    `${type} cannot follow`,
  )
})
