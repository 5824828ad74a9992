import { describe, expect, test } from 'vitest'
import { expectPaidOnce } from '#test/support/expect-paid-once.ts'
import { useRig } from '#test/support/use-rig.ts'

const SCALE = { api: 2, webhooks: 4, invoices: 2, scanner: 2 }
const INVOICES = 8

describe('several processes of each type', () => {
  const world = useRig(SCALE)

  /** Kills processes. The result resolves when they have ended: until then one may take a connection and close it without an answer. */
  function kill(...names: readonly string[]): () => Promise<void> {
    const { rig } = world()
    const pidOf = (name: string) => rig.stack.dev.pids?.[name] ?? null
    const killed = names.map((name) => [name, pidOf(name)] as const)
    for (const name of names) rig.kill(name)
    return async () => {
      for (const [name, pid] of killed) await expect.poll(() => pid === null || pidOf(name) !== pid).toBe(true)
    }
  }

  test('run under names of their own', () => {
    expect(Object.keys(world().rig.stack.dev.pids ?? {})).toEqual(
      expect.arrayContaining(['api', 'api-2', 'webhooks-4', 'invoices-2', 'scanner-2', 'rates']),
    )
  })

  // Guarantee: two scanners on one chain and two workers on one invoice count each payment once and tell of it once.
  test('share the work, lose one of each half-way, and count nothing twice', async () => {
    const { createInvoice, pay } = world()
    const invoices = await Promise.all(Array.from({ length: INVOICES }, () => createInvoice()))
    let ended = async () => {}
    for (const [index, invoice] of invoices.entries()) {
      await pay(invoice)
      if (index === INVOICES / 2) ended = kill(...Object.keys(SCALE))
    }
    await ended()
    for (const invoice of invoices) await expectPaidOnce(world(), invoice, 90_000)
  }, 240_000)

  test('answer in place of the one that is down', async () => {
    const { rig, merchant } = world()
    await rig.stack.restart('api')
    await kill('api')()
    for (let n = 0; n < 4; n += 1) {
      const { status } = await merchant.invoices.create({ amount: '25.00', currency: 'USD' })
      expect(status).toBe('new')
    }
  })
})
