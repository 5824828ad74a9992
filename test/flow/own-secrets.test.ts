import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readProcfile } from '#scripts/start/procfile.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { isProcessName, isSettingName, readsSetting, SECRET_SETTINGS } from '#shared/config/process-settings.ts'
import { openWorld, type World } from '#test/support/world.ts'

/** What the operating system gave a process at its start. */
function environmentOf(pid: number): Readonly<Record<string, string>> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry !== '')
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
}

// Guarantee: every process does its work with its own secrets, and holds no other.
describe('processes with their own settings', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'paymesh-secrets-'))
  let stack: Stack
  let world: World

  beforeAll(async () => {
    stack = await startStack({ dataDir, processes: true })
    world = await openWorld(dataDir, stack.dev)
  }, 240_000)
  afterAll(async () => {
    await world?.close()
    await stack?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test.each(readProcfile().map(({ name }) => name))('%s was started with what it declares', (name) => {
    if (!isProcessName(name)) throw new Error(`no settings are declared for ${name}`)
    const given = Object.keys(environmentOf(stack.pidOf(name)))
    expect(given).toContain('MONGO_URL')
    expect(given.filter((key) => isSettingName(key) && !readsSetting(name, key))).toEqual([])
    const secrets = SECRET_SETTINGS.filter((key) => given.includes(key))
    if (name === 'checkout') expect(secrets).toEqual(['MONGO_URL', 'REDIS_URL', 'PAYMESH_NETWORKS'])
    if (name === 'rates') expect(secrets).toEqual(['MONGO_URL', 'REDIS_URL'])
  })

  test('an invoice is created, chosen in the checkout, paid and announced', async () => {
    const invoice = await world.merchant.invoices.create({ amount: '25.00', currency: 'USD' })
    const chosen = await fetch(`${stack.dev.checkoutUrl}/api/i/${invoice.id}/asset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ asset: 'usdt_ethereum', actionId: randomUUID() }),
    })
    expect(chosen.status).toBe(200)
    const shown = await world.getInvoice(invoice.id)
    await world.pay(shown)
    await world.waitForEvent(invoice.id, 'invoice.paid', 90_000)
    expect((await world.getInvoice(invoice.id)).status).toBe('paid')
  }, 180_000)
})
