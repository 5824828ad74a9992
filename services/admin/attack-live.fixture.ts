import { randomUUID } from 'node:crypto'
import { accountKey } from '#test/support/fresh-key.ts'
import { type MutationPath, type OnceAttack, once } from './attack-kinds.fixture.ts'
import type { AttackWorld } from './attack-world.fixture.ts'

const op = () => ({ opId: randomUUID() })
const LIVE = { mode: 'live' } as const
let keys = 5_000
const xpub = () => {
  keys += 1
  return { family: 'evm', kind: 'xpub', value: accountKey(keys), startIndex: 0 } as const
}
const HOOK = { url: 'https://93.184.216.34/live', events: ['*'], description: 'ERP', mode: 'live' }
const make = async ({ boss: { caller, at } }: AttackWorld) => {
  const { key } = await caller.apiKeys.create({ ...at, ...LIVE, ...op(), name: 'Shop', scopes: ['invoices:read'] })
  return { ...LIVE, keyId: key.id, last4: key.last4 }
}
const add = async ({ boss: { caller, at } }: AttackWorld) => {
  const { wallet } = await caller.wallets.add({ ...at, ...LIVE, ...op(), ...xpub() })
  return { ...LIVE, walletId: wallet.id }
}
const added = async (world: AttackWorld) => {
  const wallet = await add(world)
  await world.boss.caller.wallets.disable({ ...world.boss.at, ...wallet, ...op() })
  return wallet
}
/** A change of an endpoint of this mode, seen from this view. */
const ofEndpoint =
  (mode: 'live' | 'both', view: 'live' | 'test', change: object, other: object): OnceAttack['stage'] =>
  async ({ endpoint }) => {
    const { id: endpointId, updatedAt } = await endpoint({ mode })
    const input = { mode: view, endpointId, ...('events' in change && { version: updatedAt }) }
    return { input: { ...input, ...change }, other: { ...input, ...other } }
  }
const UPDATE = [
  { events: ['invoice.paid'], description: 'ERP', inFlightMax: 5 },
  { events: ['*'], description: 'ERP', inFlightMax: null },
] as const
const DISABLE = [{ status: 'disabled' }, { status: 'enabled' }] as const
const ROTATE = [{}, { overlapMs: 0 }] as const

/** Audit rows and mails of changes of live keys, endpoints and wallets: one owner, so one mail each. Rows as in test mode. */
export const LIVE_ATTACKS: readonly (readonly [path: MutationPath, what: string, attack: OnceAttack])[] = [
  [
    'apiKeys.create',
    'live',
    once(1, 1, async () => {
      const input = { ...LIVE, name: 'Shop', scopes: ['invoices:read'] }
      return { input, other: { ...input, scopes: ['invoices:read', 'invoices:write'] } }
    }),
  ],
  ['apiKeys.revoke', 'live', once(1, 1, async (world) => ({ input: await make(world), other: await make(world) }))],
  [
    'endpoints.create',
    'live',
    once(1, 1, async () => {
      const input = { ...LIVE, endpoint: HOOK }
      return { input, other: { ...LIVE, endpoint: { ...HOOK, url: 'https://93.184.216.35/live' } } }
    }),
  ],
  ['endpoints.update', 'live', once(1, 1, ofEndpoint('live', 'live', ...UPDATE))],
  ['endpoints.update', 'of both modes, from the test view', once(1, 1, ofEndpoint('both', 'test', ...UPDATE))],
  ['endpoints.setStatus', 'live', once(1, 1, ofEndpoint('live', 'live', ...DISABLE))],
  ['endpoints.setStatus', 'of both modes, from the test view', once(1, 1, ofEndpoint('both', 'test', ...DISABLE))],
  ['endpoints.rotate', 'live', once(1, 1, ofEndpoint('live', 'live', ...ROTATE))],
  ['endpoints.rotate', 'of both modes, from the test view', once(1, 1, ofEndpoint('both', 'test', ...ROTATE))],
  ['endpoints.remove', 'live', once(1, 1, ofEndpoint('live', 'live', {}, { reason: 'for another reason' }))],
  // Only its test events end.
  [
    'endpoints.remove',
    'of both modes, from the test view',
    once(1, 0, ofEndpoint('both', 'test', {}, { reason: 'for another reason' })),
  ],
  ['wallets.add', 'live', once(1, 1, async () => ({ input: { ...LIVE, ...xpub() }, other: { ...LIVE, ...xpub() } }))],
  ['wallets.disable', 'live', once(1, 1, async (world) => ({ input: await add(world), other: await add(world) }))],
  ['wallets.enable', 'live', once(1, 1, async (world) => ({ input: await added(world), other: await added(world) }))],
]
