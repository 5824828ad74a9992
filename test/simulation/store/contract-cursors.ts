import type { ContractCase } from './contract-case.ts'
import { LEASE_MS, PAST } from './contract-samples.ts'

const cursor = {
  id: 'test:ethereum',
  mode: 'test' as const,
  network: 'ethereum' as const,
  height: 5,
  hash: 'h5',
  time: PAST,
  window: [
    [4, 'h4'],
    [5, 'h5'],
  ] as const,
  headHeight: 9,
  headSeenAt: PAST,
  finalizedHeight: null,
  status: 'live' as const,
  haltReason: null,
  genesisHash: 'g',
  lease: null,
}

export const CURSOR_CASES: readonly ContractCase[] = [
  {
    name: 'a cursor is made once and advances from where its holder left it',
    ask: async ({ cursors }) => {
      await cursors.create(cursor)
      const twice = await cursors.create({ ...cursor, height: 7 })
      const held = await cursors.acquireLease('test', 'ethereum', 'one', LEASE_MS)
      const epoch = held?.epoch ?? 0
      const next = { height: 6, hash: 'h6', time: PAST + 1, window: [[6, 'h6']] as const, mempoolAt: PAST }
      const moves = [
        await cursors.advance('test', 'ethereum', { hash: 'h4', epoch }, next),
        await cursors.advance('test', 'ethereum', { hash: 'h5', epoch: 0 }, next),
        await cursors.advance('test', 'ethereum', { hash: 'h5', epoch }, next),
      ]
      const now = await cursors.find('test', 'ethereum')
      return [twice.height, epoch, moves, now?.height, now?.window, (await cursors.list()).length]
    },
    gives: [5, 1, [false, false, true], 6, [[6, 'h6']], 1],
  },
  {
    name: 'the epoch of a lease rises with each new holder and outlives it',
    ask: async ({ cursors: { create, acquireLease, releaseLease, find } }) => {
      await create(cursor)
      const take = (owner: string, leaseMs = LEASE_MS) => acquireLease('test', 'ethereum', owner, leaseMs)
      const epochs = [await take('one'), await take('two'), await take('one', 0), await take('two'), await take('two')]
      await releaseLease('test', 'ethereum', 'one')
      const kept = (await find('test', 'ethereum'))?.lease?.owner
      await releaseLease('test', 'ethereum', 'two')
      const free = (await find('test', 'ethereum'))?.lease
      return [epochs.map((held) => held?.epoch ?? null), kept, free, await take('one'), await find('live', 'ethereum')]
    },
    gives: [[1, null, 1, 2, 2], 'two', null, { epoch: 3 }, null],
  },
]

/** Key material, wallets, watched addresses and chain cursors. */
