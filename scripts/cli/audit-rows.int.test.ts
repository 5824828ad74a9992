import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { HDNodeWallet } from 'ethers'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type AttackWorld, openAttackWorld } from '#services/admin/attack-world.fixture.ts'
import { USERS } from '#shared/db/accounts/operator-models.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createRecordedDocuments } from '#shared/db/maintenance/recorded-documents.ts'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { checkRecords, FIRST_RECORD } from '#shared/usecases/audit/check-records.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { createProgram, runCli } from './main.ts'
import { OPERATIONS } from './operations/table.ts'
import { actorName } from './session/actor.ts'

const stores = useStores()
let world: AttackWorld
const settings = () => ({
  ...{ MONGO_URL: stores.mongoUrl, REDIS_URL: stores.redisUrl },
  ...{ PAYMESH_MONGO_DATABASE: stores.database, PAYMESH_REDIS_PREFIX: stores.prefix },
  PAYMESH_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  PAYMESH_KEY_PEPPER: Buffer.alloc(32, 8).toString('base64'),
  PAYMESH_ENV: 'test',
})
beforeAll(async () => {
  world = await openAttackWorld(stores)
})
// Before each test: a command removes the secrets from the environment when it has read them.
beforeEach(() => {
  for (const [name, value] of Object.entries(settings())) vi.stubEnv(name, value)
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
})
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

interface ChangeCase {
  /** Audit rows of one run, oldest first. */
  readonly actions: readonly string[]
  /** Mails to owners, and to the person whom it concerns. */
  readonly notices: number
  /** Sets the scene and returns the arguments behind the command's name. */
  args(): Promise<readonly string[]>
  /** Exit status; 0 unless stated. `go-live` ends with 1 until every item has passed. */
  readonly status?: number
}
/** `reads`: changes nothing of the installation. `services`: runs the services, which write the rows of what they do. `drill`: its rows are shown by `test/recovery/back-up-drill.int.test.ts`. */
type Expectation = ChangeCase | 'reads' | 'services' | 'drill'

const changes = (action: string | readonly string[], args: ChangeCase['args'], notices = 0): ChangeCase => ({
  actions: typeof action === 'string' ? [action] : action,
  args,
  notices,
})
const shop = () => world.boss.workspaceId
const endpointId = async () => [(await world.endpoint()).id]
const deliveryId = async () => [(await world.failedDelivery()).id]
const { at, op } = { at: () => world.boss.at, op: () => ({ opId: randomUUID() }) }
const xpub = () => HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'").neuter().extendedKey
const person = async () => (await world.person('support')).email
const noCommand = async () =>
  void (await world.boss.caller.chains.cancel({ mode: 'test', network: 'ethereum', ...op() }))

/** A back-up of the installation, with the options that open it. */
async function backedUp(): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'paymesh-audit-'))
  const passphrase = join(folder, 'passphrase')
  writeFileSync(passphrase, 'correct horse battery staple, twice', { mode: 0o600 })
  const options = [join(folder, 'all.backup'), '--passphrase-file', passphrase]
  expect(await runCli(['backup', 'create', ...options])).toBe(0)
  for (const [name, value] of Object.entries(settings())) vi.stubEnv(name, value)
  return options
}

const WORKSPACE: Readonly<Record<string, Expectation>> = {
  'workspace create': changes('workspace.created', async () => ['--name', 'New', '--owner-email', 'n@example.com']),
  'workspace update': changes('workspace.settings_changed', async () => [shop(), '--payment-links', '7'], 1),
  'workspace list': 'reads',
  'api-key create': changes('api_key.created', async () => ['--workspace', shop(), '--mode', 'test']),
  'api-key revoke': changes('api_key.revoked', async () => {
    const { caller } = world.boss
    return [(await caller.apiKeys.create({ ...at(), ...op(), name: 'Till', scopes: ['invoices:read'] })).key.id]
  }),
  'api-key list': 'reads',
  'operator create': changes(
    ['operator.created', 'member.joined'],
    async () => [
      ...['--email', `${randomUUID()}@example.com`, '--name', 'Olga', '--workspace', shop(), '--role', 'support'],
    ],
    1,
  ),
  'operator list': 'reads',
  // The owner, and the person who was removed.
  'operator remove': changes('member.removed', async () => [await person(), '--workspace', shop()], 2),
  'operator reset-password': changes('operator.password_reset', async () => [await person()]),
  'operator reset-totp': changes('operator.authenticator_reset', async () => {
    const email = await person()
    const totp = { sealedSecret: 'sealed', lastStep: 1, since: 1 }
    await stores.db.collection(USERS).updateOne({ email }, { $set: { totp } })
    return [email]
  }),
  // `workspace create` made a second live workspace, so that a proof is asked for.
  'wallet add': changes('wallet.added', async () => {
    const key = HDNodeWallet.fromSeed(randomBytes(32)).derivePath("m/44'/60'/0'")
    const entered = { family: 'evm', kind: 'xpub', value: key.neuter().extendedKey } as const
    const challenge = { ...at(), mode: 'live', ...op(), about: { entered } } as const
    const { nonce, text } = await world.boss.caller.wallets.challenge(challenge)
    const signature = key.deriveChild(0).deriveChild(0).signMessageSync(text)
    return [
      ...['--workspace', shop(), '--mode', 'live', '--family', 'evm', '--kind', 'xpub', '--value', entered.value],
      ...['--start-index', '0', '--nonce', nonce, '--signature', signature],
    ]
  }),
  'wallet prove': changes('wallet.proof_requested', async () => [
    ...['--workspace', shop(), '--family', 'evm', '--kind', 'xpub', '--value', xpub()],
  ]),
  'wallet funds': 'reads',
  'go-live check': 'reads',
  'go-live confirm-address': {
    ...changes('golive.address_compared', async () => {
      const key = { family: 'evm', kind: 'xpub', value: xpub() } as const
      const { wallet } = await world.boss.caller.wallets.add({ ...at(), ...op(), ...key })
      const foreign = '0x52908400098527886E0F7030069857D2E4169EE7'
      return [wallet.id, foreign, '--workspace', shop(), '--mode', 'test']
    }),
    status: 1,
  },
  'go-live state-master-key': {
    ...changes('golive.master_key_stated', async () => ['--workspace', shop(), '--mode', 'test']),
    status: 1,
  },
  'go-live send-mail': {
    ...changes(
      'golive.mail_sent',
      async () => {
        await world.person('admin')
        return ['--workspace', shop(), '--mode', 'test']
      },
      1,
    ),
    status: 1,
  },
  'go-live pay': {
    ...changes(['golive.payment_started', 'invoice.created'], async () => {
      return ['--workspace', shop(), '--mode', 'test', '--asset', 'usdt_ethereum', '--amount', '5.00']
    }),
    status: 1,
  },
  'wallet list': 'reads',
  'wallet show': 'reads',
  'wallet disable': changes('wallet.disabled', async () => {
    const key = { family: 'evm', kind: 'xpub', value: xpub() } as const
    return [(await world.boss.caller.wallets.add({ ...at(), ...op(), ...key })).wallet.id]
  }),
}

const MONEY: Readonly<Record<string, Expectation>> = {
  'invoice show': 'reads',
  'invoice explain': 'reads',
  'tx explain': 'reads',
  'payment attach': changes('invoice.funds_accepted', async () => {
    const { invoiceId, payment } = await world.latePayment()
    return [payment.id, '--invoice', invoiceId, '--not-returned']
  }),
  'payment count': changes('invoice.payment_counted', async () => [
    (await world.dustPayment()).id,
    ...['--reason', 'the customer asked for it'],
  ]),
  'exception list': 'reads',
  'exception close': changes('exception.closed', async () => [await world.exception()]),
  'exception accept': changes(['exception.accepted', 'invoice.funds_accepted'], async () => [
    (await world.latePayment()).exceptionId,
    ...['--reason', 'the customer was promised it'],
  ]),
  'exception reject': changes('exception.rejected', async () => [
    (await world.latePayment()).exceptionId,
    ...['--reason', 'sent back'],
  ]),
  'endpoint list': 'reads',
  'endpoint show': 'reads',
  'endpoint test': changes('endpoint.tested', endpointId),
  'endpoint rotate-secret': changes('endpoint.secret_rotated', endpointId),
  'endpoint disable': changes('endpoint.disabled', endpointId),
  'endpoint enable': changes('endpoint.enabled', async () => {
    const { id } = await world.endpoint()
    await world.boss.caller.endpoints.setStatus({ ...at(), ...op(), endpointId: id, status: 'disabled' })
    return [id]
  }),
  'delivery list': 'reads',
  'delivery show': 'reads',
  'delivery resend': changes('delivery.resent', deliveryId),
  'delivery recover': changes('endpoint.recovery_requested', async () => [
    ...[(await world.endpoint()).id, '--since', '1h'],
  ]),
  // Merchants' programs, by an API key: the server decides and records what happens.
  listen: 'reads',
  trigger: 'reads',
  // Pays on a development chain from its own key.
  pay: 'reads',
}

const ETHEREUM = ['ethereum', '--mode', 'test']
const INSTALLATION: Readonly<Record<string, Expectation>> = {
  'rates show': 'reads',
  'rates confirm': changes('rate.confirmed', async () => {
    await world.waitingJump()
    return ['ARS:official', '--price', '800', '--reason', 'devaluation']
  }),
  'master-key rotate': changes('keys.rotation_begun', async () => []),
  'chain status': 'reads',
  'chain rescan': changes('chain.rescan', async () => {
    await noCommand()
    return [...ETHEREUM, '--from', '1', '--to', '5', '--wait', '0']
  }),
  'chain release-deadlines': changes('chain.deadlines_released', async () => {
    await world.stuckNetwork()
    const through = new Date(world.boss.deps.clock.now() - 60_000).toISOString()
    return ['bsc', '--mode', 'live', '--through', through, '--reason', 'the provider is down']
  }),
  'chain rewind': changes('chain.rewind', async () => {
    await noCommand()
    return [...ETHEREUM, '--to', '5', '--wait', '0']
  }),
  'chain resume': changes('chain.resume', async () => {
    await noCommand()
    await stores.db.collection(CHAIN_CURSORS).updateMany({}, { $set: { status: 'halted', haltReason: 'a test' } })
    return [...ETHEREUM, '--wait', '0']
  }),
  'chain skip': changes('chain.skip', async () => {
    await noCommand()
    return [...ETHEREUM, '--reason', 'all nodes are pruned', '--wait', '0']
  }),
  'chain cancel': changes('chain.skip_cancelled', async () => {
    await noCommand()
    const reason = 'all nodes are pruned'
    await world.boss.caller.chains.request({ mode: 'test', network: 'ethereum', ...op(), kind: 'skip', reason })
    return ETHEREUM
  }),
  migrate: changes('installation.migrated', async () => {
    await stores.db.connection.collection('operations').dropIndex('operation_life')
    return []
  }),
  'backup create': changes(['backup.started', 'backup.ended'], async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paymesh-audit-'))
    const key = join(folder, 'key')
    writeFileSync(key, Buffer.alloc(32, 5).toString('base64'), { mode: 0o600 })
    return [join(folder, 'all.backup'), '--key-file', key]
  }),
  'backup run': changes(['backup.started', 'backup.ended', 'backup.verified'], async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paymesh-audit-'))
    const key = join(folder, 'key')
    writeFileSync(key, Buffer.alloc(32, 5).toString('base64'), { mode: 0o600 })
    return [folder, '--key-file', key]
  }),
  'backup verify': changes('backup.verified', async () => [...(await backedUp()), '--record']),
  'backup restore': 'drill',
  'backup confirm-restore': 'drill',
  serve: 'services',
  doctor: 'reads',
  'audit verify': 'reads',
  'audit acknowledge-break': changes('audit.break_acknowledged', async () => {
    await stores.db.connection
      .collection<{ _id: string }>('users')
      .insertOne({ _id: randomUUID() }, { bypassDocumentValidation: true })
    return ['--reason', 'a person made by hand']
  }),
  reconcile: 'reads',
}

const EXPECTED: Readonly<Record<string, Expectation>> = { ...WORKSPACE, ...MONEY, ...INSTALLATION }

function leaves(command: Command, before: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [before.join(' ')]
  return command.commands.flatMap((child) => leaves(child, [...before, child.name()]))
}

test('every command says whether it changes something', () => {
  expect([...leaves(createProgram())].sort()).toEqual(Object.keys(EXPECTED).sort())
})

/** Documents without the row that `audit verify` looks for; stages store some. */
const unrecorded = async () =>
  (await checkRecords(createRecordedDocuments(stores.db), FIRST_RECORD, () => false)).missing

const changing = Object.entries(EXPECTED).filter((entry): entry is [string, ChangeCase] => typeof entry[1] === 'object')

const STARTING = ['go-live pay', 'api-key create']

/** As hostile to people as it gets: suspended, and nobody gets in without a second factor. */
async function shutShop(isShut: boolean): Promise<void> {
  const status = isShut ? 'suspended' : 'active'
  const { policy } = (await world.boss.deps.workspaces.findById(shop())) ?? {}
  if (policy === undefined) throw new Error('no workspace')
  await world.boss.deps.workspaces.update(shop(), { status, policy: { ...policy, requiresSecondFactor: isShut } })
}

// Guarantee: whoever changes something from the command line is in the audit trail by name. A command that is a procedure of the dashboard
// needs no code, and works in a workspace that is suspended; only those of `STARTING` store nothing there (decision 0099).
test.each(sampleOf(changing, 4))(
  '%s leaves its rows',
  async (name, { actions, args, notices, status: expected = 0 }) => {
    await world.engine.watchEverything()
    const given = [...name.split(' '), ...(await args())]
    await world.count()
    const before = await stores.db.collection(AUDIT_LOG).distinct('_id')
    const unrecordedBefore = await unrecorded()
    const mailsBefore = await noticeIds()
    if (Object.hasOwn(OPERATIONS, name) && !STARTING.includes(name)) await shutShop(true)
    const status = await runCli([...given, '--json']).finally(() => shutShop(false))
    process.exitCode = 0
    expect([name, status]).toEqual([name, expected])
    await world.count()
    const rows = await stores.db
      .collection(AUDIT_LOG)
      .find({ _id: { $nin: before } })
      .toArray()
    expect(rows.map(({ action }) => action).sort()).toEqual([...actions].sort())
    expect(rows.map(({ actor }) => actor)).toEqual(actions.map(() => actorName()))
    expect((await noticeIds()).length - mailsBefore.length).toBe(notices)
    // Guarantee: verification misses the row of no document that the command line stores.
    expect(await unrecorded()).toEqual(unrecordedBefore)
  },
)

/** What changes of live keys and endpoints add: one owner, hence one mail each. */
const LIVE: readonly (readonly [string, headline: string, ChangeCase['args']])[] = [
  ['api-key create', 'An API key was created', async () => ['--workspace', shop(), '--mode', 'live']],
  [
    'api-key revoke',
    'An API key was revoked',
    async () => {
      const made = { ...at(), ...op(), mode: 'live', name: 'Till' } as const
      return [(await world.boss.caller.apiKeys.create({ ...made, scopes: ['invoices:read'] })).key.id]
    },
  ],
  ['endpoint disable', 'A webhook endpoint was paused', async () => [(await world.endpoint({ mode: 'both' })).id]],
  [
    'endpoint rotate-secret',
    'A webhook endpoint was given a new secret',
    async () => [(await world.endpoint({ mode: 'live' })).id],
  ],
]

// Guarantee: access to the machine changes no live key or endpoint without a mail to every owner.
test.each(sampleOf(LIVE, 2))('%s in live mode is mailed to every owner: %s', async (name, headline, args) => {
  const given = [...name.split(' '), ...(await args())]
  const before = await noticeIds()
  const status = await runCli([...given, '--json'])
  process.exitCode = 0
  expect(status).toBe(0)
  const fresh = await stores.db
    .collection(MAILS)
    .find({ template: 'owner_notice', _id: { $nin: before } })
    .toArray()
  const data = { headline, actor: actorName(), from: 'the command line of the server' }
  expect(fresh).toMatchObject([{ to: 'owner@example.com', data }])
})

async function noticeIds(): Promise<string[]> {
  return await stores.db.collection(MAILS).distinct('_id', { template: 'owner_notice' })
}
