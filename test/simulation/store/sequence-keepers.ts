import { LEASE_MS, PAST } from './contract-samples.ts'
import { pickSome, type StoreQuery } from './sequence-turn.ts'

const chain = { mode: 'test' as const, network: 'ethereum' as const }

const OWNERS = ['one', 'two'] as const

const material = {
  id: 'm-1',
  mode: 'test' as const,
  family: 'evm' as const,
  kind: 'xpub' as const,
  fingerprint: 'f',
  sealed: 's',
  sandbox: false,
  scriptType: null,
  nextIndex: 0,
  derivedCount: 0,
  returned: [],
  createdAt: PAST,
}
const cursor = {
  id: 'test:ethereum',
  ...chain,
  height: 5,
  hash: 'h0',
  time: PAST,
  window: [],
  headHeight: 9,
  headSeenAt: PAST,
  finalizedHeight: null,
  status: 'live' as const,
  haltReason: null,
  genesisHash: 'g',
  lease: null,
}

/** Leases, cursors, idempotent operations, key material and watches. */
export const KEEPER_QUERIES: readonly StoreQuery[] = [
  ({ on, random }) =>
    on.leases.acquire(random.pick(['work', 'other']), random.pick(OWNERS), random.pick([0, LEASE_MS])),
  ({ on, random }) => on.leases.release('work', random.pick(OWNERS)),
  ({ on }) => on.cursors.create(cursor),
  ({ on, random }) => on.cursors.acquireLease('test', 'ethereum', random.pick(OWNERS), random.pick([0, LEASE_MS])),
  ({ on, random }) => on.cursors.releaseLease('test', 'ethereum', random.pick(OWNERS)),
  async ({ on, random, tick }) => {
    const now = await on.cursors.find('test', 'ethereum')
    const expected = { hash: now?.hash ?? 'h0', epoch: (now?.lease?.epoch ?? 1) - random.pick([0, 0, 1]) }
    const height = random.between(6, 9)
    const next = { height, hash: `h${height}`, window: [[height, `h${height}`]] as const, headSeenAt: tick() }
    await on.cursors.advance(
      'test',
      'ethereum',
      expected,
      random.chance(0.5) ? next : { mempoolAt: tick(), haltReason: 'why' },
    )
  },
  ({ on, random, tick }) =>
    on.idempotency.begin('op', random.pick(['f', 'g']), `r-${random.between(1, 9)}`, tick(), random.pick([0, 60_000])),
  ({ on, random }) => on.idempotency.finish('op', random.between(1, 3), { status: 201, body: '{}' }),
  ({ on, random }) => on.idempotency[random.pick(['release', 'giveUp'] as const)]('op', random.between(1, 3)),
  ({ on }) => on.wallets.upsertMaterial(material),
  ({ on, random }) => on.wallets.reserveIndexes('m-1', random.between(0, 3)),
  ({ on, random }) => on.wallets.returnIndexes('m-1', pickSome(random, [0, 1, 2])),
  ({ on, random }) => {
    const rows = pickSome(random, [0, 1, 2, 3]).map((index) => ({
      ...{
        mode: 'test' as const,
        family: 'evm' as const,
        matchKey: `a${random.between(0, 4)}`,
        address: '0x',
        materialId: 'm-1',
        index,
      },
      watchedOn: pickSome(random, ['polygon', 'base'] as const),
    }))
    return on.wallets.addDerived('m-1', rows, random.between(0, 4))
  },
  ({ on, random }) =>
    on.wallets.addListed(
      'p-1',
      pickSome(random, ['a0', 'a1', 'z']).map((matchKey) => ({
        mode: 'test',
        family: 'evm',
        matchKey,
        address: '0x',
        materialId: 'p-1',
      })),
    ),
  ({ on, random }) =>
    on.wallets.markWatched(
      'test',
      'evm',
      random.pick(['base', 'polygon', 'ethereum']),
      pickSome(random, ['a0', 'a1', 'z']),
    ),
  ({ on, random }) => on.wallets.unmarkedWatches('test', 'evm', random.pick(['base', 'polygon']), 9),
  ({ on, random }) => on.wallets.heldPage('p-1', random.pick([null, 'a0']), 2),
  ({ on }) => on.wallets.watchPage('test', 'evm', 'a0', 3),
  ({ on }) => on.wallets.hotWatchPage('test', 'evm', null, 3),
  ({ on }) => on.wallets.hotWatchKeys('test', 'evm', null, 3),
  ({ on, random }) => on.wallets.markPacked('test', 'evm', pickSome(random, ['a0', 'a1', 'z']), 5),
]
