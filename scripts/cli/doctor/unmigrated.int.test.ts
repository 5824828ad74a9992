import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { runCli } from '../main.ts'

const stores = useStores({ migrated: false })
const secret = (byte: number) => Buffer.alloc(32, byte).toString('base64')
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

async function run(line: string) {
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    ...{ PAYMESH_MASTER_KEY: secret(7), PAYMESH_KEY_PEPPER: secret(8), PAYMESH_ENV: 'test' },
  }
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  printed = ''
  const status = await runCli(line.split(' '))
  process.exitCode = undefined
  return { status, printed }
}

// Guarantee: whoever starts with an empty database reads what to do and nothing else, and the question leaves nothing in it: an archive is
// restored into an empty database only, and a wrong key must not become the right one because somebody asked.
it('doctor on an unmigrated database prints one sentence and stores nothing', async () => {
  expect(await run('doctor')).toEqual({
    status: 1,
    printed: `✗ mongo: database ${stores.database} is not migrated yet: run paymesh migrate\n`,
  })
  expect(await stores.db.connection.listCollections()).toEqual([])
})

// Guarantee: a row written before the unique indexes exist may be one of two.
it.each(['chain status', 'wallet list', 'operator create --email ana@example.com --name Ana'])(
  '%s says the same and stores nothing',
  async (line) => {
    expect(await run(line)).toEqual({
      status: 1,
      printed: `database ${stores.database} is not migrated yet: run paymesh migrate\n`,
    })
    expect(await stores.db.connection.listCollections()).toEqual([])
  },
)
