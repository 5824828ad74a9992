import { IDEMPOTENCY_LIFE_MS } from '#shared/db/requests/idempotency-model.ts'
import type { ApiKeyRecord } from '#shared/db/workspaces/api-key-model.ts'
import type { Workspace } from '#shared/ports/workspaces.ts'
import { DEFAULT_POLICY } from '#shared/usecases/workspaces/create-workspace.ts'
import type { ContractCase } from './contract-case.ts'
import { auditNamed, LEASE_MS, outcome, PAST } from './contract-samples.ts'

const workspace = (id: string): Workspace => ({
  id,
  name: 'Cafe',
  ownerEmail: 'owner@example.com',
  status: 'active',
  limits: { invoicesPerMonth: null, paymentLinks: 3, webhookEndpoints: null },
  policy: { ...DEFAULT_POLICY, confirmations: { ethereum: 3 } },
  epoch: 1,
  createdAt: PAST,
})

const key = (id: string, overrides: Partial<ApiKeyRecord> = {}): ApiKeyRecord => ({
  id,
  workspaceId: 'ws-1',
  mode: 'test',
  hash: `hash of ${id}`,
  last4: '1234',
  scopes: [],
  epoch: 1,
  createdAt: PAST,
  revokedAt: null,
  createdBy: 'cli:test',
  ...overrides,
})

const TENANTS: readonly ContractCase[] = [
  {
    name: 'a workspace is inserted once and each change raises its epoch',
    query: async ({ workspaces }) => {
      await workspaces.insert(workspace('ws-2'), auditNamed('a-1'))
      await workspaces.insert(workspace('ws-1'), auditNamed('a-2'))
      const twice = await outcome(workspaces.insert(workspace('ws-1'), auditNamed('a-3')))
      const changed = await workspaces.update('ws-1', {
        status: 'suspended',
        limits: { ...workspace('').limits, paymentLinks: 1 },
      })
      const all = (await workspaces.list()).map(({ id, epoch }) => `${id} ${epoch}`)
      const some = (await workspaces.findMany(['ws-1', 'ws-9'])).map(({ id }) => id)
      return [twice, changed?.status, changed?.limits.paymentLinks, all, some, await workspaces.update('ws-9', {})]
    },
    gives: ['MongoServerError', 'suspended', 1, ['ws-1 2', 'ws-2 1'], ['ws-1'], null],
  },
  {
    name: 'keys are found by digest and revoked once',
    query: async ({ keys, workspaceAdmin: { issueKey, revokeKey, findKey } }) => {
      await issueKey(key('k-1'), auditNamed('a-1'))
      await issueKey(key('k-2'), auditNamed('a-2'))
      const same = await outcome(issueKey(key('k-3', { hash: 'hash of k-1' }), auditNamed('a-3')))
      const revoked = await revokeKey('k-1', PAST + 1, auditNamed('a-4'))
      const again = await revokeKey('k-1', PAST + 2, auditNamed('a-5'))
      const { epoch, revokedAt } = (await findKey('k-1')) ?? {}
      const found = (await keys.findManyByHash(['hash of k-1', 'hash of k-2', 'none'])).map(({ id }) => id).sort()
      const listed = [(await keys.list('ws-1')).map(({ id }) => id), await keys.list('ws-2')]
      const unknown = await revokeKey('k-9', PAST, auditNamed('a-6'))
      return [same, revoked, again, epoch, revokedAt, found, listed, unknown]
    },
    gives: ['MongoServerError', true, false, 2, PAST + 1, ['k-1', 'k-2'], [['k-2', 'k-1'], []], false],
  },
  {
    name: 'the last use of a key moves forward only',
    query: async ({ keys, workspaceAdmin: { issueKey } }) => {
      await issueKey(key('k-1'), auditNamed('a-4'))
      await issueKey(key('k-2'), auditNamed('a-5'))
      const unused = (await keys.findByHash('hash of k-1'))?.lastUsedAt
      await keys.noteUse(['k-1', 'k-9'], PAST + 2)
      await keys.noteUse(['k-1'], PAST + 1)
      return [unused, ...(await keys.list('ws-1')).map(({ id, lastUsedAt }) => [id, lastUsedAt])]
    },
    gives: [undefined, ['k-2', undefined], ['k-1', PAST + 2]],
  },
]

const answer = { status: 201, body: '{}' }

const OPERATIONS: readonly ContractCase[] = [
  {
    name: 'an operation begins once and its answer is replayed',
    query: async ({ idempotency: { begin, finish } }) => {
      const first = await begin('op', 'f', 'r-1', PAST, 1_000)
      const during = await begin('op', 'f', 'r-2', PAST + 1, 1_000)
      await finish('op', 1, answer)
      await finish('op', 1, { status: 500, body: 'other' })
      return [
        first,
        during,
        await begin('op', 'f', 'r-3', PAST + 2, 1_000),
        await begin('op', 'g', 'r-4', PAST + 3, 1_000),
      ]
    },
    gives: [
      { outcome: 'begun', resourceId: 'r-1', fencingToken: 1 },
      { outcome: 'in_progress' },
      { outcome: 'done', response: answer },
      { outcome: 'mismatch' },
    ],
  },
  {
    name: 'an abandoned operation is resumed by one, and the first holder is fenced',
    query: async ({ idempotency: { begin, finish, find } }) => {
      await begin('op', 'f', 'r-1', PAST, 1_000)
      const resumed = await begin('op', 'f', 'r-2', PAST + 1_000, 1_000)
      await finish('op', 1, answer)
      const fenced = await find('op')
      await finish('op', 2, answer)
      return [resumed, fenced?.response, (await find('op'))?.response, await find('other')]
    },
    gives: [{ outcome: 'resumed', resourceId: 'r-1', fencingToken: 2 }, null, answer, null],
  },
  {
    name: 'a released key begins again, one given up is resumed at once, one past its life starts over',
    query: async ({ idempotency: { begin, release, giveUp, findMany } }) => {
      await begin('a', 'f', 'r-1', PAST, 1_000)
      await release('a', 2)
      const held = await begin('a', 'f', 'r-2', PAST, 1_000)
      await release('a', 1)
      const again = await begin('a', 'g', 'r-3', PAST, 1_000)
      await giveUp('a', 1)
      const resumed = await begin('a', 'g', 'r-4', PAST, 1_000)
      const over = await begin('a', 'h', 'r-5', PAST + IDEMPOTENCY_LIFE_MS, 1_000)
      return [held, again, resumed, over, (await findMany(['a', 'b'])).map(({ resourceId }) => resourceId)]
    },
    gives: [
      { outcome: 'in_progress' },
      { outcome: 'begun', resourceId: 'r-3', fencingToken: 1 },
      { outcome: 'resumed', resourceId: 'r-3', fencingToken: 2 },
      { outcome: 'begun', resourceId: 'r-5', fencingToken: 3 },
      ['r-5'],
    ],
  },
]

const LEASES: readonly ContractCase[] = [
  {
    name: 'a lease is held by one, renewed by its holder, and free when given back',
    query: async ({ leases: { acquire, release } }) => [
      await acquire('work', 'one', LEASE_MS),
      await acquire('work', 'two', LEASE_MS),
      await acquire('work', 'one', LEASE_MS),
      await acquire('other', 'two', LEASE_MS),
      await release('work', 'two'),
      await acquire('work', 'two', LEASE_MS),
      await release('work', 'one'),
      await acquire('work', 'two', LEASE_MS),
    ],
    gives: [true, false, true, true, undefined, false, undefined, true],
  },
  {
    name: 'a lease that ran out is taken by the next',
    query: async ({ leases: { acquire } }) => [
      await acquire('work', 'one', 0),
      await acquire('work', 'two', LEASE_MS),
      await acquire('work', 'one', LEASE_MS),
    ],
    gives: [true, true, false],
  },
]

const command = (id: string, overrides: object = {}) => ({
  id,
  mode: 'test' as const,
  network: 'ethereum' as const,
  kind: 'rescan' as const,
  from: 1,
  to: 5,
  acceptReorg: false,
  nextHeight: null,
  changed: 0,
  status: 'open' as const,
  outcome: null,
  requestedBy: 'operator',
  requestedAt: PAST,
  finishedAt: null,
  ...overrides,
})

const COMMANDS: readonly ContractCase[] = [
  {
    name: 'one open command of a kind stands for each network, and asking twice gives the standing one',
    query: async ({ commands, audit }) => {
      const first = await commands.request(command('c-1'), auditNamed('a-1'))
      const second = await commands.request(command('c-2'), auditNamed('a-2'))
      await commands.request(command('c-3', { kind: 'rewind', requestedAt: PAST - 1 }), auditNamed('a-3'))
      const open = [await commands.listOpen('test', 'ethereum'), await commands.listAllOpen()]
      const auditWrite = (await audit.listBySubject('subject-1')).map(({ id }) => id)
      return [first.id, second.id, open.map((list) => list.map(({ id }) => id)), auditWrite]
    },
    gives: [
      'c-1',
      'c-1',
      [
        ['c-3', 'c-1'],
        ['c-3', 'c-1'],
      ],
      ['a-1', 'a-3'],
    ],
  },
  {
    name: 'a command moves from where it stands, ends once, and makes room for the next',
    query: async ({ commands }) => {
      await commands.request(command('c-1'), auditNamed('a-1'))
      const moved = await commands.progress(command('c-1'), { nextHeight: 3, changed: 1 })
      const stale = await commands.progress(command('c-1'), { nextHeight: 9, changed: 1 })
      const end = { status: 'done' as const, outcome: 'fine', at: PAST + 1 }
      const ended = [
        await commands.finish('c-1', end, auditNamed('a-2')),
        await commands.finish('c-1', end, auditNamed('a-3')),
      ]
      const next = await commands.request(command('c-2'), auditNamed('a-4'))
      const past = await commands.findById('c-1')
      return [moved, stale, ended, next.id, past?.nextHeight, past?.status, past?.finishedAt]
    },
    gives: [true, false, [true, false], 'c-2', 3, 'done', PAST + 1],
  },
]

/** Workspaces, keys, idempotent operations, leases and operators' commands. */
export const WORKSPACE_CASES: readonly ContractCase[] = [...TENANTS, ...OPERATIONS, ...LEASES, ...COMMANDS]
