import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { ContractCase } from './contract-case.ts'
import { auditNamed, outcome, PAST } from './contract-samples.ts'

const material = (id: string, overrides: Partial<KeyMaterial> = {}): KeyMaterial => ({
  id,
  mode: 'test',
  family: 'evm',
  kind: 'xpub',
  fingerprint: 'f',
  sealed: 'sealed',
  sandbox: false,
  scriptType: null,
  nextIndex: 0,
  derivedCount: 0,
  returned: [],
  createdAt: PAST,
  ...overrides,
})

const wallet = (id: string, overrides: Partial<Wallet> = {}): Wallet => ({
  id,
  workspaceId: 'ws-1',
  mode: 'test',
  family: 'evm',
  networks: ['ethereum'],
  kind: 'xpub',
  materialId: 'm-1',
  createdAt: PAST,
  disabledAt: null,
  ...overrides,
})

const address = (matchKey: string, index: number, overrides: Partial<WatchedAddress> = {}): WatchedAddress => ({
  mode: 'test',
  family: 'evm',
  matchKey,
  address: `0x${matchKey}`,
  materialId: 'm-1',
  index,
  watchedOn: [],
  ...overrides,
})

const listedAt = (matchKey: string) => ({ mode: 'test', family: 'evm', matchKey, address: `0x${matchKey}` }) as const

const KEYS: readonly ContractCase[] = [
  {
    name: 'key material is stored once and its first form wins',
    query: async ({ wallets }) => {
      const first = await wallets.upsertMaterial(material('m-2'))
      const again = await wallets.upsertMaterial(material('m-2', { sealed: 'other', nextIndex: 9 }))
      await wallets.upsertMaterial(material('m-1'))
      return [
        first.sealed,
        again.sealed,
        (await wallets.listMaterials()).map(({ id }) => id),
        await wallets.findMaterial('m-9'),
      ]
    },
    gives: ['sealed', 'sealed', ['m-1', 'm-2'], null],
  },
  {
    name: 'indexes are reserved from those returned, then from those derived, and never twice',
    query: async ({ wallets }) => {
      await wallets.upsertMaterial(material('m-1', { derivedCount: 4 }))
      const first = await wallets.reserveIndexes('m-1', 2)
      await wallets.returnIndexes('m-1', [1, 0, 1])
      const mixed = await wallets.reserveIndexes('m-1', 3)
      const rest = await wallets.reserveIndexes('m-1', 5)
      const stored = await wallets.findMaterial('m-1')
      const empty = [
        await wallets.reserveIndexes('m-1', 1),
        await wallets.reserveIndexes('m-1', 0),
        await wallets.reserveIndexes('m-9', 1),
      ]
      return [first, mixed, rest, empty, stored?.returned, stored?.nextIndex]
    },
    gives: [[0, 1], [1, 0, 2], [3], [[], [], []], [], 4],
  },
  {
    name: 'a key that is searched offers nothing, starts behind what was used, and ends network by network',
    query: async ({ wallets }) => {
      const history = {
        state: 'searching' as const,
        searched: [],
        lastUsedIndex: null,
        startIndex: 0,
        givenIndex: null,
      }
      const waitingFor = ['ethereum', 'base'] as const
      await wallets.upsertMaterial(material('m-1', { derivedCount: 9, history: { ...history, waitingFor } }))
      const steps = [
        await wallets.reserveIndexes('m-1', 2),
        await wallets.endHistorySearch('m-1', 'base', 0),
        await wallets.recordUsedIndex('m-1', 3),
        await wallets.recordUsedIndex('m-1', 3),
        await wallets.endHistorySearch('m-1', 'base', 0),
        await wallets.endHistorySearch('m-1', 'base', 4),
        await wallets.reserveIndexes('m-1', 2),
        await wallets.endHistorySearch('m-1', 'ethereum', 4),
        await wallets.reserveIndexes('m-1', 2),
      ]
      return [steps, (await wallets.findMaterial('m-1'))?.history]
    },
    gives: [
      [[], true, true, false, false, true, [], true, [4, 5]],
      {
        ...{ state: 'known', waitingFor: [], searched: ['base', 'ethereum'] },
        ...{ lastUsedIndex: 3, startIndex: 4, givenIndex: null },
      },
    ],
  },
  {
    name: 'a start index is taken until the first address is offered',
    query: async ({ wallets }) => {
      await wallets.upsertMaterial(material('m-1', { derivedCount: 9 }))
      const steps = [
        await wallets.setStartIndex('m-1', 5),
        await wallets.setStartIndex('m-1', 2),
        await wallets.reserveIndexes('m-1', 1),
        await wallets.setStartIndex('m-1', 7),
        await wallets.setStartIndex('m-9', 7),
      ]
      const stored = await wallets.findMaterial('m-1')
      return [steps, stored?.history?.startIndex, stored?.history?.givenIndex, stored?.reclaimFrom]
    },
    gives: [[true, true, [5], false, false], 5, 2, 5],
  },
  {
    name: 'fewer are reserved than were returned, and the others stay',
    query: async ({ wallets }) => {
      await wallets.upsertMaterial(material('m-1', { nextIndex: 5, derivedCount: 5, returned: [4, 2, 3] }))
      const taken = await wallets.reserveIndexes('m-1', 2)
      return [taken, (await wallets.findMaterial('m-1'))?.returned]
    },
    gives: [[4, 2], [3]],
  },
  {
    name: 'a workspace has one wallet of a material and mode',
    query: async ({ wallets }) => {
      const made = [
        await wallets.insertWallet(wallet('w-2')),
        await wallets.insertWallet(wallet('w-2', { materialId: 'm-2' })),
        await wallets.insertWallet(wallet('w-1')),
        await wallets.insertWallet(wallet('w-1', { mode: 'live' })),
        await wallets.insertWallet(wallet('w-3', { workspaceId: 'ws-2' })),
      ]
      const listed = [await wallets.listWallets('ws-1'), await wallets.listWallets(null)]
      return [made, listed.map((list) => list.map(({ id }) => id)), [...(await wallets.workspacesUsing('m-1'))].sort()]
    },
    gives: [
      ['inserted', 'exists', 'exists', 'inserted', 'inserted'],
      [
        ['w-1', 'w-2'],
        ['w-1', 'w-2', 'w-3'],
      ],
      ['ws-1', 'ws-2'],
    ],
  },
  {
    name: 'a wallet is disabled and enabled, with a note when it changed',
    query: async ({ wallets, audit }) => {
      await wallets.insertWallet(wallet('w-1'))
      const states = [
        await wallets.setDisabled('w-1', PAST, auditNamed('a-1')),
        await wallets.setDisabled('w-1', PAST + 5, auditNamed('a-2')),
        await wallets.setDisabled('w-1', null),
        await wallets.setDisabled('w-9', null, auditNamed('a-3')),
      ]
      return [
        states.map((state) => state?.disabledAt ?? null),
        (await audit.listBySubject('subject-1')).map(({ id }) => id),
      ]
    },
    gives: [[PAST, PAST, null, null], ['a-1']],
  },
]

const WATCHES: readonly ContractCase[] = [
  {
    name: 'derived addresses are stored once, and the count never falls',
    query: async ({ wallets }) => {
      await wallets.upsertMaterial(material('m-1'))
      await wallets.addDerived('m-1', [address('a', 0), address('b', 1)], 2)
      await wallets.addDerived('m-1', [address('a', 0), address('c', 1), address('d', 3)], 1)
      const at = (await wallets.addressesAt('m-1', [0, 1, 2, 3])).map(({ matchKey, index }) => `${index} ${matchKey}`)
      const found = (await wallets.findAddresses('test', 'evm', ['a', 'c'])).map(({ matchKey }) => matchKey)
      return [at, found, (await wallets.findMaterial('m-1'))?.derivedCount]
    },
    gives: [['0 a', '1 b', '3 d'], ['a'], 2],
  },
  {
    name: 'watches are walked by match key',
    query: async ({ wallets }) => {
      await wallets.addDerived(
        'm-1',
        ['c', 'a', 'b'].map((name, index) => address(name, index)),
        3,
      )
      return [
        await wallets.watchPage('test', 'evm', null, 2),
        await wallets.watchPage('test', 'evm', 'b', 2),
        await wallets.watchPage('live', 'evm', null, 2),
      ]
    },
    gives: [[{ matchKey: 'a' }, { matchKey: 'b' }], [{ matchKey: 'c' }], []],
  },
  {
    name: 'watches that were packed long ago are walked no more',
    query: async ({ wallets }) => {
      await wallets.addDerived(
        'm-1',
        ['c', 'a', 'b'].map((name, index) => address(name, index)),
        3,
      )
      await wallets.markPacked('test', 'evm', ['a', 'b'], 5)
      return [
        await wallets.watchPage('test', 'evm', null, 9, 4),
        await wallets.watchPage('test', 'evm', null, 9, 5),
        await wallets.watchPage('test', 'evm', 'a', 9, 4),
      ]
    },
    gives: [
      [{ matchKey: 'a' }, { matchKey: 'b' }, { matchKey: 'c' }],
      [{ matchKey: 'c' }],
      [{ matchKey: 'b' }, { matchKey: 'c' }],
    ],
  },
  {
    name: 'packed watches are walked no more, and listed ones are named',
    query: async ({ wallets }) => {
      await wallets.addDerived(
        'm-1',
        ['c', 'a', 'b', 'd'].map((name, index) => address(name, index)),
        4,
      )
      await wallets.addListed('p-1', [{ ...listedAt('e'), materialId: 'p-1' }])
      await wallets.markPacked('test', 'evm', ['b', 'absent'], 5)
      await wallets.markPacked('live', 'evm', ['a'], 5)
      await wallets.markPacked('test', 'evm', [], 5)
      return [
        await wallets.hotWatchPage('test', 'evm', null, 2),
        await wallets.hotWatchPage('test', 'evm', 'c', 9),
        await wallets.hotWatchKeys('test', 'evm', null, 2),
        await wallets.hotWatchKeys('test', 'evm', 'c', 9),
        await wallets.hotWatchKeys('live', 'evm', null, 9),
        (await wallets.watchPage('test', 'evm', null, 9)).length,
      ]
    },
    gives: [
      [
        { matchKey: 'a', isListed: false },
        { matchKey: 'c', isListed: false },
      ],
      [
        { matchKey: 'd', isListed: false },
        { matchKey: 'e', isListed: true },
      ],
      ['a', 'c'],
      ['d', 'e'],
      [],
      5,
    ],
  },
  {
    name: 'watches are marked per network, and those that lack a mark are found',
    query: async ({ wallets }) => {
      await wallets.addDerived(
        'm-1',
        ['a', 'b', 'c'].map((name, index) => address(name, index)),
        3,
      )
      await wallets.markWatched('test', 'evm', 'polygon', ['a', 'b'])
      await wallets.markWatched('test', 'evm', 'base', ['b', 'absent'])
      await wallets.markWatched('test', 'evm', 'base', ['b'])
      const lacking = async (network: 'polygon' | 'base') =>
        (await wallets.unmarkedWatches('test', 'evm', network, 9)).map(({ matchKey }) => matchKey).sort()
      const marks = (await wallets.findAddresses('test', 'evm', ['b'])).map(({ watchedOn }) => watchedOn)
      return [await lacking('polygon'), await lacking('base'), marks]
    },
    gives: [['c'], ['a', 'c'], [['base', 'polygon']]],
  },
  {
    name: 'a listed address is held by many materials of one kind, and refused where another kind has it',
    query: async ({ wallets }) => {
      const listed = (matchKey: string, materialId = 'pool:evm') => ({
        mode: 'test' as const,
        family: 'evm' as const,
        matchKey,
        address: `0x${matchKey}`,
        materialId,
      })
      await wallets.addDerived('m-1', [address('x', 0)], 1)
      const first = await wallets.addListed('p-1', [listed('b', 'p-1'), listed('x', 'p-1')])
      const same = await wallets.addListed('p-1', [listed('b', 'p-1')])
      const other = await outcome(wallets.addListed('p-2', [listed('b', 'p-2')]))
      const page = (await wallets.heldPage('p-1', null, 5)).map(({ matchKey, heldBy }) => [matchKey, heldBy])
      return [
        first,
        same,
        other,
        page,
        await wallets.heldPage('p-1', 'b', 5),
        await wallets.countHeld('p-1'),
        await wallets.countHeld('p-2'),
      ]
    },
    gives: [['x'], [], ['b'], [['b', ['p-1']]], [], 1, 0],
  },
]

export const WALLET_CASES: readonly ContractCase[] = [...KEYS, ...WATCHES]
