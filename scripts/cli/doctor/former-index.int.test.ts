import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { becomeFormer } from '#test/support/former-payments.ts'
import { useStores } from '#test/support/stores.ts'
import { runCli } from '../main.ts'

const HOUR_MS = 3_600_000

const stores = useStores()
let printed = ''

beforeAll(() => {
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

async function run(...args: readonly string[]): Promise<string> {
  const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8), PAYMESH_ENV: 'test' },
  }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  printed = ''
  await runCli(args)
  process.exitCode = undefined
  return printed
}

/** Moves the end of migration 3 into the past. */
async function ended(agoMs: number): Promise<string> {
  const changedAt = new Date(Date.now() - agoMs)
  await stores.db.collection(INSTALLATION).updateOne({ _id: 'migration:3' }, { $set: { changedAt } })
  return new Date(changedAt.getTime() + 24 * HOUR_MS).toISOString()
}

// Guarantee: nobody keeps an index that nothing uses, which costs each payment a write, because an upgrade has a second step.
it('says when migrate is due a second time, until the former index is gone', async () => {
  expect(await run('doctor')).not.toContain(' migrate: ')
  await becomeFormer(stores.db)
  await run('migrate')
  const later = await ended(23 * HOUR_MS)
  expect(await run('doctor')).toContain(
    `✓ migrate: run \`paymesh migrate\` once more after ${later}, or with --finish now`,
  )
  const since = await ended(25 * HOUR_MS)
  expect(await run('doctor')).toMatch(
    new RegExp(`^✗ migrate: .* payment_key .*since ${since}: run \`paymesh migrate\` once more$`, 'm'),
  )
  expect(await run('migrate')).toContain('dropped the index payment_key')
  expect(await run('doctor')).not.toContain(' migrate: ')
})
