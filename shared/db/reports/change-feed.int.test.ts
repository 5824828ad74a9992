import { afterEach, expect, it, vi } from 'vitest'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createDeliveryRepository, deliveryToDocument } from '#shared/db/deliveries/delivery-repository.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { StoreChange } from '#shared/ports/change-feed.ts'
import { sampleDelivery, sampleInvoice } from '#test/support/db-samples.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { createChangeFeed } from './change-feed.ts'

const stores = useStores()
let following: { stop(): Promise<void> } | null = null
afterEach(async () => {
  await following?.stop()
  following = null
})

/**
 * Follows and collects. `until` resolves when the condition holds, and rejects when the stream broke after it followed: what was written
 * meanwhile is never named, and a wait for it would say nothing.
 */
function follow() {
  const received: StoreChange[] = []
  let gaps = 0
  let failures = 0
  let broke: unknown
  let check: () => void = () => undefined
  // A stream that could not be opened is a gap, too, and another one is opened later.
  const follows = () => gaps > failures
  const warn = (fields: object): void => {
    failures += 1
    if (gaps >= failures) broke = new Error('the stream broke', { cause: fields })
    check()
  }
  following = createChangeFeed(stores.db, { ...stores.runtime.logger, warn }).follow({
    changes: (batch) => {
      received.push(...batch)
      check()
    },
    gap: () => {
      gaps += 1
      check()
    },
  })
  const until = async (condition: () => boolean) =>
    await new Promise<void>((resolve, reject) => {
      check = () => {
        if (broke !== undefined) reject(broke)
        else if (condition()) resolve()
      }
      check()
    })
  return { received, gaps: () => gaps, follows, until }
}

/** Guarantee: a page that follows hears of what was written after it was told that it follows. */
it('tells inserts and changes with their workspace and mode, and nothing of bookkeeping', async () => {
  const { received, follows, until } = follow()
  await until(follows)
  const invoice = sampleInvoice(stores.runtime.random, { workspaceId: 'ws-1', number: 1, at: Date.now() })
  await createInvoiceRepository(stores.db).insert(invoice)
  await until(() => received.length === 1)
  expect(received).toEqual([{ kind: 'invoice', id: invoice.terms.id, workspaceId: 'ws-1', mode: 'test', isNew: true }])

  const invoices = stores.db.collection(INVOICES)
  await invoices.updateOne({ _id: invoice.terms.id }, { $set: { outboxShard: 3 } })
  await invoices.updateOne({ _id: invoice.terms.id }, { $inc: { version: 1 } })
  await until(() => received.length === 2)
  expect(received[1]).toMatchObject({ kind: 'invoice', id: invoice.terms.id, isNew: false })

  await createDeliveryRepository(stores.db).insertMany([sampleDelivery('whd_1', { endpointId: 'e-1' })])
  // Reported before it changes: several changes of one object within a moment are reported once, as new.
  await until(() => received.some(({ kind }) => kind === 'delivery'))
  await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: 'whd_1' }, { $set: { leaseToken: 't' } })
  await stores.db.collection(WEBHOOK_DELIVERIES).updateOne({ _id: 'whd_1' }, { $set: { status: 'failed' } })
  await until(() => received.some(({ kind, isNew }) => kind === 'delivery' && !isNew))
  expect(received.filter(({ kind }) => kind === 'delivery').every(({ id }) => id === 'whd_1')).toBe(true)
})

deepTest('calls a gap when there is more than can be named, and goes on', async () => {
  const { received, gaps, follows, until } = follow()
  await until(follows)
  const before = gaps()
  const rows = Array.from({ length: 2_500 }, (_, row) => sampleDelivery(`whd_many_${row}`, { endpointId: 'e-2' }))
  // In one transaction, so that the stream shows all of them at one moment: a slow store would hand them over in parts, each few enough.
  await stores.db.connection.getClient().withSession((session) =>
    session.withTransaction(async () => {
      await stores.db.collection(WEBHOOK_DELIVERIES).insertMany(rows.map(deliveryToDocument), { session })
    }),
  )
  await until(() => gaps() > before)
  // What comes while the rest of them is read is not named either; what comes after it is.
  let after = 0
  await vi.waitFor(
    async () => {
      after += 1
      const row = sampleDelivery(`whd_after_${after}`, { endpointId: 'e-2' })
      await createDeliveryRepository(stores.db).insertMany([row])
      expect(received.some(({ id }) => id.startsWith('whd_after_'))).toBe(true)
    },
    { timeout: 60_000, interval: 500 },
  )
})
