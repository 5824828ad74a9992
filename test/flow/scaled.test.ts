import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readProcfile } from '#scripts/start/procfile.ts'
import { isProcessName, isSettingName, readsSetting, SECRET_SETTINGS } from '#shared/config/process-settings.ts'
import { expectPaidOnce } from '#test/support/expect-paid-once.ts'
import { useRig } from '#test/support/use-rig.ts'

const SCALE = { api: 2, webhooks: 4, invoices: 2, scanner: 2 }
const INVOICES = 8

/** What the operating system gave a process at its start. */
function environmentOf(pid: number): Readonly<Record<string, string>> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry !== '')
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
}

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

  // Guarantee: every process does its work with its own secrets, and holds no other.
  describe('with their own settings', () => {
    test.each(readProcfile().map(({ name }) => name))('%s was started with what it declares', (name) => {
      if (!isProcessName(name)) throw new Error(`no settings are declared for ${name}`)
      const given = Object.keys(environmentOf(world().rig.stack.pidOf(name)))
      expect(given).toContain('MONGO_URL')
      expect(given.filter((key) => isSettingName(key) && !readsSetting(name, key))).toEqual([])
      const secrets = SECRET_SETTINGS.filter((key) => given.includes(key))
      if (name === 'checkout') expect(secrets).toEqual(['MONGO_URL', 'REDIS_URL', 'PAYMESH_NETWORKS'])
      if (name === 'rates') expect(secrets).toEqual(['MONGO_URL', 'REDIS_URL'])
    })

    test('an invoice is created, chosen in the checkout, paid and announced', async () => {
      const { rig, merchant, getInvoice, pay, waitForEvent } = world()
      const invoice = await merchant.invoices.create({ amount: '25.00', currency: 'USD' })
      const chosen = await fetch(`${rig.stack.dev.checkoutUrl}/api/i/${invoice.id}/asset`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ asset: 'usdt_ethereum', actionId: randomUUID() }),
      })
      expect(chosen.status).toBe(200)
      await pay(await getInvoice(invoice.id))
      await waitForEvent(invoice.id, 'invoice.paid', 90_000)
      expect((await getInvoice(invoice.id)).status).toBe('paid')
    }, 180_000)
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

  // Guarantee: from one request every event, delivery and attempt that it caused is found by ids in the logs.
  test('leave one trail of ids through all of them', async () => {
    const { rig, createInvoice, waitForEvent } = world()
    const { id } = await createInvoice()
    await waitForEvent(id, 'invoice.pending')
    const trail = () => {
      const lines = readFileSync(rig.stack.logFile, 'utf8')
        .split('\n')
        .flatMap((line): Record<string, string>[] => (line.startsWith('{') ? [JSON.parse(line)] : []))
      const about = (msg: string, field: string, value: string | undefined) =>
        lines.filter((line) => line['msg'] === msg && line[field] === value)
      const [request] = about('request', 'resourceId', id)
      const relayed = about('event relayed', 'invoiceId', id).find((line) => line['type'] === 'invoice.pending')
      const [attempt] = about('webhook attempt', 'deliveryId', relayed?.['deliveries'])
      return { request, relayed, attempt }
    }
    await expect.poll(() => trail().attempt, { timeout: 60_000 }).toBeDefined()
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
    const { rig, merchant } = world()
    await rig.stack.restart('api')
    await kill('api')()
    for (let n = 0; n < 4; n += 1) {
      const { status } = await merchant.invoices.create({ amount: '25.00', currency: 'USD' })
      expect(status).toBe('new')
    }
  })
})
