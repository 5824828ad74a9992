import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { openWorld, type World } from '#test/support/world.ts'

const SCALE = { api: 2, webhooks: 4, outbox: 2, invoices: 2, scanner: 2 }
const INVOICES = 8
/** `invoice.confirming` may be missing: a payment first looked at when it is confirmed skips that state in silence. */
const PAID_EVENTS = ['invoice.created', 'invoice.paid', 'invoice.pending', 'payment.confirmed', 'payment.detected']

describe('several processes of each type', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-scaled-'))
  let stack: Stack
  let world: World

  beforeAll(async () => {
    stack = await startStack({ dataDir, processes: true, scale: SCALE })
    world = await openWorld(dataDir, stack.dev)
  }, 240_000)
  afterAll(async () => {
    await world?.close()
    await stack?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('run under names of their own', () => {
    expect(Object.keys(stack.dev.pids ?? {})).toEqual(
      expect.arrayContaining(['api', 'api-2', 'webhooks-4', 'outbox-2', 'invoices-2', 'scanner-2', 'rates']),
    )
  })

  // Guarantee: two scanners on one chain and two workers on one invoice count each payment once and tell of it once.
  test('share the work, lose one of each half-way, and count nothing twice', async () => {
    const invoices = await Promise.all(Array.from({ length: INVOICES }, () => world.createInvoice()))
    for (const [index, invoice] of invoices.entries()) {
      await world.pay(invoice)
      if (index === INVOICES / 2) for (const name of Object.keys(SCALE)) stack.kill(name, 'SIGKILL')
    }
    for (const { id, crypto } of invoices) {
      await world.waitForEvent(id, 'invoice.paid', 90_000)
      await world.receiver.waitFor(() => PAID_EVENTS.every((type) => world.eventTypes(id).includes(type)), 30_000)
      expect(
        world
          .eventTypes(id)
          .filter((type) => type !== 'invoice.confirming')
          .toSorted(),
      ).toEqual(PAID_EVENTS)
      const payments = await world.merchant.payments.list({ invoice_id: id }).page()
      expect(payments.data).toMatchObject([{ counted: true, amount_base_units: crypto?.amount_base_units }])
    }
  }, 240_000)

  // Guarantee: from one request every event, delivery and attempt that it caused is found by ids in the logs.
  test('leave one trail of ids through all of them', async () => {
    const { id } = await world.createInvoice()
    await world.waitForEvent(id, 'invoice.pending')
    const trail = () => {
      const lines = readFileSync(stack.logFile, 'utf8')
        .split('\n')
        .flatMap((line): Record<string, string>[] => (line.startsWith('{') ? [JSON.parse(line)] : []))
      const about = (msg: string, field: string, value: string | undefined) =>
        lines.filter((line) => line['msg'] === msg && line[field] === value)
      const [request] = about('request', 'resourceId', id)
      const relayed = about('event relayed', 'invoiceId', id).find((line) => line['type'] === 'invoice.pending')
      const [attempt] = about('webhook attempt', 'deliveryId', relayed?.['deliveries'])
      return { request, relayed, attempt }
    }
    await expect.poll(() => trail().attempt, { timeout: 10_000 }).toBeDefined()
    const { request, relayed, attempt } = trail()
    expect(request).toMatchObject({ operation: 'POST /invoices', requestId: expect.stringMatching(/^req_/) })
    expect(attempt).toMatchObject({
      process: 'webhooks',
      eventId: relayed?.['eventId'],
      result: 'succeeded',
      status: 200,
    })
  })

  test('answer in place of the one that is down', async () => {
    await stack.restart('api')
    stack.kill('api', 'SIGKILL')
    for (let n = 0; n < 4; n += 1) {
      const { status } = await world.merchant.invoices.create({ amount: '25.00', currency: 'USD' })
      expect(status).toBe('new')
    }
  })
})
