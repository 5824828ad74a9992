import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPaymesh, type Invoice } from '#clients/typescript/src/main.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { SERVE_LINE } from '#scripts/start/procfile.ts'
import { type Stack, startStack } from '#scripts/start/stack.ts'
import { deepDescribe, deepTest, sampleOf } from '#test/support/depth.ts'
import { expectPaidOnce } from '#test/support/expect-paid-once.ts'
import { openTenant } from '#test/support/open-tenant.ts'
import { makeStoreFolder } from '#test/support/store-folder.ts'
import { openWorld, type World } from '#test/support/world.ts'

const home = makeStoreFolder('paymesh-serve')
const [dataDir, otherDir] = [join(home, 'serve'), join(home, 'processes')]
let stack: Stack
let world: World
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  stack = await startStack({ dataDir, serve: true, keepAlive: false })
  world = await openWorld(dataDir, stack.dev)
}, 240_000)
afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end()
  await world?.close()
  await stack?.stop()
  rmSync(home, { recursive: true, force: true })
})

interface ExitOutcome {
  readonly code: number
  readonly stderr: string
}

/** Runs another `paymesh serve` with the settings of the first until it ends. */
function runSecond(env: Readonly<Record<string, string>>): Promise<ExitOutcome> {
  const settings = { ...readEnvironment(dataDir), ...env }
  return new Promise((resolve) => {
    execFile(
      SERVE_LINE.command,
      SERVE_LINE.args,
      { env: { PATH: process.env['PATH'], ...settings } },
      (error, _out, stderr) => resolve({ code: Number(error?.code ?? 0), stderr }),
    )
  })
}

const probe = async (path: string) => {
  const response = await fetch(stack.dev.metricsUrl.replace('/metrics', path))
  return { status: response.status, text: await response.text() }
}

describe('everything in one process', () => {
  test('an invoice is paid and announced, and no Redis runs', async () => {
    expect(Object.keys(stack.dev.pids ?? {})).toEqual(['serve'])
    expect(stack.dev.redisUrl).toBeNull()
    const invoice = await world.createInvoice()
    await world.pay(invoice)
    await expectPaidOnce(world, invoice)
    for (const path of ['/livez', '/readyz', '/startupz']) expect((await probe(path)).status).toBe(200)
    const { text } = await probe('/metrics')
    expect(text).toMatch(/^paymesh_job_seconds_count\{queue="outbox"\} [1-9]/m)
    expect(text).not.toContain('store="redis"')
    expect(text).toMatch(/^paymesh_rate_limit_local_total 0$/m)
  })

  test('pages are served, and the command line needs no Redis either', async () => {
    expect((await fetch(`${stack.dev.adminUrl}/`)).status).toBe(200)
    const invoice = await world.createInvoice()
    expect((await fetch(`${stack.dev.checkoutUrl}/i/${invoice.id}`)).status).toBe(200)
    const { checks } = await world.cli<{ checks: { name: string; ok: boolean; detail: string }[] }>('doctor')
    expect(checks.find(({ name }) => name === 'redis')).toEqual({
      name: 'redis',
      ok: true,
      detail: 'not used: wake-ups stay in the memory of the one process',
    })
    expect(checks.filter(({ ok }) => !ok)).toEqual([])
  })

  // Attack: an operator starts it twice by mistake. The second one says so in one sentence, ends, and changes nothing for the first.
  deepTest('a second one on the same ports ends with a sentence', async () => {
    const { code, stderr } = await runSecond({ PAYMESH_METRICS_PORT: '0' })
    expect(code).toBe(1)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(/^serve: (mailer|checkout|admin|api): listen EADDRINUSE/)
    expect((await probe('/readyz')).status).toBe(200)
  })

  // Guarantee: whatever it was doing, the store has all of it: nothing is lost, and nothing is counted or announced twice.
  test.each(sampleOf(['payment.detected', 'invoice.paid'], 1))('kill -9 once %s was sent', async (type) => {
    const invoice = await world.createInvoice()
    await world.pay(invoice)
    await world.waitForEvent(invoice.id, type, 60_000)
    stack.kill('serve', 'SIGKILL')
    await stack.restart('serve')
    await expectPaidOnce(world, invoice, 90_000)
  })

  deepTest('kill -9 with a transfer on the chain that nobody has read', async () => {
    const invoice = await world.createInvoice()
    stack.kill('serve', 'SIGKILL')
    await world.pay(invoice)
    await stack.restart('serve')
    await expectPaidOnce(world, invoice, 90_000)
  })
})

deepDescribe('the way to one process per line of the Procfile', () => {
  let other: Stack
  let there: World
  let testKey: string
  let opened: Invoice

  beforeAll(async () => {
    testKey = (await openTenant(dataDir)).testKey
    const { invoices } = createPaymesh({ apiKey: testKey, baseUrl: stack.dev.apiUrl, maxRetries: 0 })
    opened = await invoices.create({ amount: '25.00', currency: 'USD', asset: 'usdt_ethereum' })
    // The same database and chain, with the keys of the installation: what an operator would set for the new processes.
    mkdirSync(otherDir)
    for (const file of ['secrets.json', 'seed.json']) copyFileSync(join(dataDir, file), join(otherDir, file))
    const { MONGO_URL: mongoUrl = '', PAYMESH_NETWORKS = '' } = readEnvironment(dataDir) ?? {}
    other = await startStack({ dataDir: otherDir, processes: true, mongoUrl, env: { PAYMESH_NETWORKS } })
    endings.push(other.stop)
    there = await openWorld(otherDir, { ...other.dev, rpcUrls: stack.dev.rpcUrls })
    endings.push(there.close)
  }, 240_000)

  test('needs no migration: both forms run on one database, and each payment counts once', async () => {
    const [here, created] = [await world.createInvoice(), await there.createInvoice()]
    await world.pay(here)
    await there.pay(created)
    await Promise.all([expectPaidOnce(world, here, 120_000), expectPaidOnce(there, created, 120_000)])
  }, 240_000)

  test('one of them may die', async () => {
    const invoice = await there.createInvoice()
    await there.pay(invoice)
    await there.waitForEvent(invoice.id, 'payment.detected', 60_000)
    stack.kill('serve', 'SIGKILL')
    await expectPaidOnce(there, invoice, 120_000)
  }, 240_000)

  test('an invoice of before is paid afterwards', async () => {
    await world.pay(opened)
    const { invoices } = createPaymesh({ apiKey: testKey, baseUrl: other.dev.apiUrl, maxRetries: 0 })
    await expect.poll(async () => (await invoices.get(opened.id)).status, { timeout: 120_000 }).toBe('paid')
    const { received } = await invoices.get(opened.id)
    expect(received.confirmed_base_units).toBe(opened.crypto?.amount_base_units)
  }, 240_000)

  test('doctor asks for Redis where processes use it', async () => {
    const env = { ...process.env, ...readEnvironment(otherDir), REDIS_URL: '' }
    const { stdout } = await new Promise<{ stdout: string }>((resolve) => {
      execFile(process.execPath, ['scripts/paymesh.mjs', 'doctor', '--json'], { env }, (_error, stdout) =>
        resolve({ stdout }),
      )
    })
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; detail: string }[] }
    const redis = checks.find(({ name }) => name === 'redis')
    expect(redis?.ok).toBe(false)
    expect(redis?.detail).toMatch(/^REDIS_URL is not set here, but these processes use Redis: admin, api, /)
  })
})
