import { randomBytes, randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'
import { runCli } from './main.ts'

const stores = useStores()
// Before each command, because it removes the secrets from the environment when it has read them.
const settings = () => {
  const env = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
    PAYMESH_ENV: 'test',
    PAYMESH_WALLET_DELAY_HOURS: '24',
  }
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
}
beforeEach(() => void vi.spyOn(process.stdout, 'write').mockReturnValue(true))
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})
const xpub = () => HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey

// Guarantee: the command line serves at once, tells every owner, and does not shorten the wait of the dashboard.
it('a live wallet of the command line starts at once, the next one of the dashboard waits', async () => {
  const { caller, at, workspaceId } = await adminCaller(stores, { mode: 'live', stored: true })
  for (const value of [xpub(), xpub()]) {
    settings()
    const wallet = ['--family', 'evm', '--kind', 'xpub', '--value', value, '--start-index', '0']
    const status = await runCli(['wallet', 'add', '--workspace', workspaceId, '--mode', 'live', ...wallet, '--json'])
    process.exitCode = 0
    expect(status).toBe(0)
  }
  const stored = await stores.db.collection(WALLETS).find({ workspaceId }).toArray()
  expect(stored.map(({ effectiveAt }) => effectiveAt ?? null)).toEqual([null, null])
  expect(await stores.db.collection(MAILS).countDocuments({ workspaceId, template: 'wallet_changed' })).toBe(2)
  const entered = { family: 'evm', kind: 'xpub', value: xpub(), startIndex: 0 } as const
  const added = await caller.wallets.add({ ...at, opId: randomUUID(), ...entered })
  expect(added.startsAt).not.toBeNull()
})
