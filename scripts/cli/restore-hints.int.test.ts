import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { writeRestoreState } from '#shared/db/restore/restore-state.ts'
import { useStores } from '#test/support/stores.ts'
import { runCli } from './main.ts'

const stores = useStores()
const ARCHIVE = { takenAt: '2026-01-01T02:17:00.000Z', restoredAt: '2026-01-02T08:00:00.000Z', skip: 250 }
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

async function run(...args: readonly string[]): Promise<{ readonly text: string; readonly status: unknown }> {
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
  return { text: printed, status }
}

// Guarantee: nobody wonders why a restored installation sends nothing, and an update does not begin on half a restore.
it('says that a restore is not confirmed, or did not end', async () => {
  expect((await run('doctor')).text).not.toContain('restore:')
  await writeRestoreState(stores.db, { ...ARCHIVE, state: 'held' })
  expect((await run('doctor')).text).toMatch(
    /^✗ restore: .*2026-01-01T02:17:00\.000Z.*no webhook and no email.*`paymesh backup confirm-restore`$/m,
  )
  expect(await run('migrate')).toMatchObject({ status: 0 })
  await writeRestoreState(stores.db, { ...ARCHIVE, state: 'confirmed' })
  expect((await run('doctor')).text).not.toContain('restore:')
  await writeRestoreState(stores.db, { ...ARCHIVE, state: 'writing' })
  expect((await run('doctor')).text).toMatch(/^✗ mongo: .* did not end: drop the database and restore again$/m)
  expect(await run('migrate')).toMatchObject({
    status: 1,
    text: expect.stringContaining('did not end: drop the database and restore again'),
  })
})
