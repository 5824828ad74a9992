import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const endings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const settings = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl, PAYMESH_ENV: 'test' },
  ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
  ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8) },
  ...{ PAYMESH_API_PORT: '0', PAYMESH_CHECKOUT_PORT: '0', PAYMESH_ADMIN_PORT: '0', PAYMESH_METRICS_PORT: '0' },
  ...more,
})

function runToEnd(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { env }, (error, _stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stderr }),
    )
  })
}

const FORMS = [
  ['api', ['scripts/service.mjs', 'api']],
  ['serve', ['scripts/paymesh.mjs', 'serve']],
] as const

describe.each(sampleOf(FORMS, 1))('%s', (name, args) => {
  // Guarantee: the first thing that goes wrong for a newcomer is one sentence with the remedy, and nothing is written.
  it('says in one sentence that the database is not migrated', async () => {
    const database = `${stores.database}_empty`
    const { code, stderr } = await runToEnd(args, settings({ PAYMESH_MONGO_DATABASE: database }))
    expect(stderr).toBe(`${name}: database ${database} is not migrated yet: run paymesh migrate\n`)
    expect(code).toBe(1)
    const collections = await stores.db.connection.getClient().db(database).listCollections().toArray()
    expect(collections).toEqual([])
  })

  it('names every faulty setting at once, without a stack and without a secret', async () => {
    const { code, stderr } = await runToEnd(args, settings({ PAYMESH_MASTER_KEY: 'short', PAYMESH_API_PROT: '1' }))
    expect(code).toBe(1)
    expect(stderr).toContain('The configuration has 2 faults')
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(stderr).not.toContain('short')
  })
})

describe('PAYMESH_API_HOST', () => {
  const other = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === 'IPv4' && !one.internal)?.address
  const isOpen = async (host: string, port: number) => {
    try {
      await fetch(`http://${host}:${port}/livez`, { signal: AbortSignal.timeout(30_000) })
      return true
    } catch {
      return false
    }
  }

  // Guarantee: a process that is meant for this machine alone is not reached from another one, on any of its ports.
  it.each(
    sampleOf(
      [
        ['127.0.0.1', false],
        ['0.0.0.0', true],
      ],
      1,
    ),
  )('binds every port of serve to %s', async (host, isPublic) => {
    const ports = [await freePort(0), await freePort(0), await freePort(0), await freePort(0)]
    const [api, checkout, admin, metrics] = ports.map(String)
    const env = settings({
      PAYMESH_API_HOST: host,
      ...{ PAYMESH_API_PORT: api ?? '', PAYMESH_CHECKOUT_PORT: checkout ?? '', PAYMESH_ADMIN_PORT: admin ?? '' },
      PAYMESH_METRICS_PORT: metrics ?? '',
    })
    const child = spawn(process.execPath, ['scripts/paymesh.mjs', 'serve'], { env, stdio: 'ignore' })
    endings.push(async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    })
    const ready = async () => (await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => null))?.status
    await expect.poll(ready, { timeout: 60_000 }).toBe(200)
    for (const port of ports) {
      expect(await isOpen('127.0.0.1', port)).toBe(true)
      if (other !== undefined) expect(await isOpen(other, port)).toBe(isPublic)
    }
  })
})
