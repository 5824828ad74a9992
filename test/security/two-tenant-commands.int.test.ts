import type { Command } from 'commander'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createProgram, runCli } from '#scripts/cli/main.ts'
import { actorName } from '#scripts/cli/session/actor.ts'
import { USERS } from '#shared/db/accounts/operator-models.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { sampleOf } from '#test/support/depth.ts'
import { digestOf } from '#test/support/store-digest.ts'
import { useStores } from '#test/support/stores.ts'
import { twoTenants } from '#test/support/two-tenants.ts'
import { stockedShop, type Tenant, unknownIds } from './foreign-world.ts'

const stores = useStores()
const world = twoTenants(stores)
let alice: Tenant
let bob: Tenant
let said = ''
beforeAll(async () => {
  await world.open()
  await world.empty()
  alice = await stockedShop(stores, world, await world.shop('alice'), { isProved: false })
  bob = await stockedShop(stores, world, await world.shop('bob'), { isProved: true })
}, 180_000)
beforeEach(() => {
  const keep = (text: unknown) => {
    said += String(text)
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(keep)
  vi.spyOn(process.stderr, 'write').mockImplementation(keep)
})
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

/** Runs a command and gives its status with what it said. */
async function run(...args: readonly string[]) {
  const settings = {
    ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
    ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
    PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
    PAYMESH_ENV: 'test',
  }
  // Each time: a command removes the secrets from the environment when it has read them.
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value)
  said = ''
  const status = await runCli([...args, '--json'])
  process.exitCode = 0
  return { status, said }
}

/** A try takes the id of another workspace beside `--workspace`; `lists` shows what the workspace has; a text says why neither. */
type Expectation =
  | { readonly ids: () => Promise<readonly [theirs: string, unknown: string]>; args(id: string): string[] }
  | 'lists'
  | string
const emailOf = async (userId: string) => (await stores.db.collection(USERS).findOne({ _id: userId }))?.email ?? ''
const of = (kind: 'wallet' | 'endpoint' | 'nonce') => async () => [alice.own[kind], unknownIds[kind]] as const
const LIVE_KEY = ['--mode', 'live', '--family', 'evm', '--kind', 'address', '--value']
const EXPECTED: Readonly<Record<string, Expectation>> = {
  'wallet prove': { ids: of('wallet'), args: (id) => ['--wallet', id] },
  'wallet add': {
    ids: of('nonce'),
    args: (nonce) => [
      ...[...LIVE_KEY, '0x000000000000000000000000000000000000dEaD', '--nonce', nonce, '--signature', '0x00'],
    ],
  },
  'operator remove': {
    ids: async () => [await emailOf(alice.own.member), 'nobody@example.com'],
    args: (email) => [email],
  },
  'go-live confirm-address': {
    ids: of('wallet'),
    args: (id) => [id, '0x000000000000000000000000000000000000dEaD'],
  },
  'go-live check': 'lists',
  'go-live state-master-key': 'names nothing but the workspace',
  'go-live send-mail': 'names nothing but the workspace',
  'go-live pay': 'names nothing but the workspace',
  'delivery list': { ids: of('endpoint'), args: (id) => ['--endpoint', id] },
  'endpoint list': 'lists',
  'exception list': 'lists',
  'api-key list': 'lists',
  'wallet list': 'lists',
  'api-key create': 'names nothing but the workspace',
  'operator create': 'names a person by their address, and says when they can log in already',
}

function withWorkspace(command: Command, before: readonly string[] = []): readonly string[] {
  if (command.commands.length > 0)
    return command.commands.flatMap((child) => withWorkspace(child, [...before, child.name()]))
  return command.options.some(({ long }) => long === '--workspace') ? [before.join(' ')] : []
}

it('every command that takes a workspace says what it does with ids of another one', () => {
  expect([...withWorkspace(createProgram())].sort()).toEqual(Object.keys(EXPECTED).sort())
})

const tries = Object.entries(EXPECTED).flatMap(([name, one]) => (typeof one === 'string' ? [] : [[name, one] as const]))

// Guarantee: a slip of the hand on the command line reaches nothing of a workspace that was not named.
it.each(sampleOf(tries, 2))(
  '%s: an id of another workspace is answered as one that never was',
  async (name, { ids, args }) => {
    const [theirs, unknown] = await ids()
    const before = await digestOf(stores)
    const answers = []
    for (const id of [unknown, theirs]) {
      const answer = await run(...name.split(' '), '--workspace', bob.workspaceId, ...args(id))
      answers.push({ ...answer, said: answer.said.replaceAll(id, '<id>') })
    }
    expect(answers[1]).toEqual(answers[0])
    expect(await digestOf(stores)).toEqual(before)
    // The try is a real one: with the workspace that has it, the answer is another one.
    if (name === 'wallet add') return
    const hit = await run(...name.split(' '), '--workspace', alice.workspaceId, ...args(theirs))
    expect(hit.said.replaceAll(theirs, '<id>')).not.toBe(answers[0]?.said)
  },
)

it.each(Object.keys(EXPECTED).filter((name) => EXPECTED[name] === 'lists'))(
  '%s shows one workspace alone',
  async (name) => {
    const { status, said: text } = await run(...name.split(' '), '--workspace', bob.workspaceId)
    // Status 1: Bob's workspace is not ready for real money.
    expect(status).toBe(name === 'go-live check' ? 1 : 0)
    expect(text.length).toBeGreaterThan(10)
    for (const id of [alice.workspaceId, ...Object.values(alice.own)]) expect(text).not.toContain(id)
  },
)

// `docs/security/THREATS.md`: shell access reads and changes the whole store, so that an id alone is enough.
describe('a command that takes an id and no workspace acts for the installation', () => {
  it('and leaves its row in the workspace that has the thing', async () => {
    const { status } = await run('delivery', 'resend', alice.own.delivery)
    expect(status).toBe(0)
    const rows = await stores.db.collection(AUDIT_LOG).find({ action: 'delivery.resent' }).toArray()
    expect(rows).toMatchObject([{ workspaceId: alice.workspaceId, actor: actorName() }])
  })

  it('and mails the owners of a live wallet that it disables, and nobody else', async () => {
    await stores.db.collection(MAILS).deleteMany({})
    expect((await run('wallet', 'disable', alice.own.wallet, '--dry-run')).status).toBe(0)
    expect(await stores.db.collection(MAILS).countDocuments()).toBe(0)
    for (const _again of [1, 2]) expect((await run('wallet', 'disable', alice.own.wallet)).status).toBe(0)
    const mails = await stores.db.collection(MAILS).find().toArray()
    expect(mails).toMatchObject([{ to: 'alice@example.com', template: 'wallet_changed', data: { change: 'disabled' } }])
  })

  it('but moves no payment of one workspace to an invoice of another', async () => {
    const before = await digestOf(stores)
    for (const [payment, invoice] of [
      [alice.own.unmatchedPayment, bob.own.openInvoice],
      [bob.own.unmatchedPayment, alice.own.openInvoice],
    ] as const)
      expect((await run('payment', 'attach', payment, '--invoice', invoice)).status).toBe(1)
    expect(await digestOf(stores)).toEqual(before)
  })
})
