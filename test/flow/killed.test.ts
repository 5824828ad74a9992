import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SERVICE_NAMES } from '#scripts/service/services.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { openWorld, type World } from '#test/support/world.ts'

/** `invoice.confirming` is missing here: a payment first looked at when it is confirmed already skips that state in silence. */
const PAID_EVENTS = ['invoice.created', 'invoice.paid', 'invoice.pending', 'payment.confirmed', 'payment.detected']

describe('every process may die in the middle of a payment', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-killed-'))
  let stack: Stack
  let world: World

  beforeAll(async () => {
    stack = await startStack({ dataDir, processes: true })
    world = await openWorld(dataDir, stack.dev)
  })
  afterAll(async () => {
    await world?.close()
    await stack?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** Ends paid, each event at least once and each payment counted exactly once. */
  const expectPaidOnce = async (invoiceId: string, amountBase: string | undefined) => {
    await world.waitForEvent(invoiceId, 'invoice.paid', 60_000)
    await world.receiver.waitFor(() => PAID_EVENTS.every((type) => world.eventTypes(invoiceId).includes(type)), 30_000)
    const announced = world.eventTypes(invoiceId).filter((type) => type !== 'invoice.confirming')
    expect(announced.toSorted()).toEqual(PAID_EVENTS)
    expect((await world.getInvoice(invoiceId)).received).toMatchObject({ confirmed_base_units: amountBase })
    const payments = await world.merchant.payments.list({ invoice_id: invoiceId }).page()
    expect(payments.data).toMatchObject([{ counted: true, amount_base_units: amountBase }])
  }

  test.each(SERVICE_NAMES)('kill -9 of %s', async (name) => {
    const invoice = await world.createInvoice()
    await world.pay(invoice)
    stack.kill(name, 'SIGKILL')
    await stack.restart(name)
    await expectPaidOnce(invoice.id, invoice.crypto?.amount_base_units)
  })

  test('Redis is emptied', async () => {
    const redis = new Redis(stack.dev.redisUrl)
    try {
      const invoice = await world.createInvoice()
      await redis.flushall()
      await world.pay(invoice)
      await world.waitForEvent(invoice.id, 'payment.detected')
      await redis.flushall()
      await expectPaidOnce(invoice.id, invoice.crypto?.amount_base_units)
    } finally {
      redis.disconnect()
    }
  })
})
