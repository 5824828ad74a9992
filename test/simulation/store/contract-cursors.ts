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
    query: async ({ cursors }) => {
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
    query: async ({ cursors: { create, acquireLease, releaseLease, find } }) => {
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
  {
    name: 'a pack grows by compare-and-set, and their number is expected from then on',
    query: async ({ packs }) => {
      const pack = (seq: number, count: number) => ({
        ...{ seq, count, salt: new Uint8Array(8), hashes: new Uint8Array(8 * count) },
      })
      const before = [await packs.expected('test', 'evm'), await packs.last('test', 'evm')]
      const puts = [
        await packs.put('test', 'evm', pack(0, 1), 0),
        await packs.put('test', 'evm', pack(0, 2), 0),
        await packs.put('test', 'evm', pack(0, 3), 1),
        await packs.put('test', 'evm', pack(0, 4), 1),
        await packs.put('test', 'evm', pack(1, 1), 0),
        await packs.put('test', 'evm', pack(0, 5), 3),
      ]
      return [
        ...[before, puts, await packs.heads('test', 'evm', 0), await packs.heads('test', 'evm', 1)],
        ...[(await packs.last('test', 'evm'))?.seq, (await packs.read('test', 'evm', 0))?.hashes.length],
        ...[await packs.read('test', 'evm', 7), await packs.expected('test', 'evm')],
      ]
    },
    gives: [
      [0, null],
      [true, false, true, false, true, true],
      [
        { seq: 0, count: 5 },
        { seq: 1, count: 1 },
      ],
      [{ seq: 1, count: 1 }],
      ...[1, 40, null, 2],
    ],
  },
]

/** Key material, wallets, watched addresses and chain cursors. */
