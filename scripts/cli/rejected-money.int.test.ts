import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type AttackWorld, openAttackWorld } from '#services/admin/attack-world.fixture.ts'
import { useStores } from '#test/support/stores.ts'
import { runCli } from './main.ts'

const stores = useStores()
let world: AttackWorld
let printed = ''

beforeAll(async () => {
  world = await openAttackWorld(stores)
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      printed += String(text)
      return true
    })
})
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

/** The command line takes its secrets out of the environment when it starts. */
async function run(...args: readonly string[]): Promise<number> {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8), PAYMESH_ENV: 'test' },
  }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  printed = ''
  const status = await runCli(args)
  process.exitCode = undefined
  return status
}

// Guarantee: who rejects money returns it. Nobody at the machine applies it unless they say that it was not returned.
it('applies what somebody rejected only to a person who says that it was not returned', async () => {
  const { caller, at } = world.boss
  const { invoiceId, payment, exceptionId } = await world.latePayment()
  const { resolved } = await caller.exceptions.reject({
    ...at,
    id: exceptionId,
    opId: randomUUID(),
    reason: 'sent back',
  })
  const rejection = `${resolved?.by} rejected this payment at ${new Date(resolved?.at ?? 0).toISOString()}.`
  const command = ['payment', 'attach', payment.id, '--invoice', invoiceId]
  const statusNow = async () => (await world.engine.deps.invoices.findById(invoiceId))?.state.status

  expect(await run(...command)).toBe(1)
  expect(printed).toContain(`INVALID_STATE: ${rejection} It may have been returned to the customer.`)
  expect(printed).toContain('--not-returned')
  expect(await statusNow()).toBe('expired')

  expect(await run(...command, '--dry-run')).toBe(0)
  expect(printed).toMatch(new RegExp(`statusBefore +expired\\nstatus +paid[\\s\\S]*rejected:\\n +by +${resolved?.by}`))
  expect(await statusNow()).toBe('expired')

  expect(await run(...command, '--not-returned')).toBe(0)
  expect(await statusNow()).toBe('paid')
})
