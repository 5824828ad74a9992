import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readEnvironment } from '#scripts/start/environment.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { openWorld, type World } from '#test/support/world.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-zombie-'))
let stack: Stack
let world: World
let second: ChildProcess | undefined

beforeAll(async () => {
  stack = await startStack({ dataDir, processes: true })
  world = await openWorld(dataDir, stack.dev)
})
afterAll(async () => {
  second?.kill('SIGTERM')
  await world?.close()
  await stack?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** A scanner that was frozen and comes back does not write over the one that took its place, and nothing counts twice. */
test('a second scanner takes over from a frozen one, which then yields', async () => {
  const zombie = stack.pidOf('scanner')
  process.kill(zombie, 'SIGSTOP')
  second = spawn(process.execPath, ['scripts/service.mjs', 'scanner'], {
    env: { ...process.env, ...readEnvironment(dataDir), PAYMESH_METRICS_PORT: '0' },
    stdio: 'ignore',
  })

  const first = await world.createInvoice()
  await world.pay(first)
  // Only the second scanner can have seen this; it had to wait for the frozen one's lease to run out.
  await world.waitForEvent(first.id, 'payment.detected', 60_000)
  process.kill(zombie, 'SIGCONT')
  const next = await world.createInvoice()
  await world.pay(next)

  for (const invoice of [first, next]) {
    await world.waitForEvent(invoice.id, 'invoice.paid', 60_000)
    expect((await world.getInvoice(invoice.id)).received).toMatchObject({
      confirmed_base_units: invoice.crypto?.amount_base_units,
    })
    const payments = await world.merchant.payments.list({ invoice_id: invoice.id }).page()
    expect(payments.data).toMatchObject([{ counted: true, status: 'confirmed' }])
    expect(world.eventTypes(invoice.id).filter((type) => type === 'payment.detected')).toHaveLength(1)
  }
})
