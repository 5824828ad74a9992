import type { HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { NetworkId } from '#shared/domain/enumerations.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { createAddressSource } from '#shared/usecases/quotes/addresses.ts'
import { createQuoteAvailability } from '#shared/usecases/quotes/availability.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { deepTest } from '#test/support/depth.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import type { AddWalletDeps, AddWalletInput } from './add-wallet.ts'
import { deriveAhead } from './address-headroom.ts'
import { createIndexReclaimer } from './reclaim-indexes.ts'
import { awaitedNetworks, searchKeyHistories } from './search-key-history.ts'
import { addressOf, freshKey, nodeWith } from './used-keys.fixture.ts'
import { walletGap } from './wallet-gap.ts'

const stores = useStores()
const NODE = { rpcUrls: ['http://127.0.0.1:1'] }
const GAP = 200

let deps: AddWalletDeps
let wallets: ReturnType<typeof createWalletRepository>
beforeEach(() => {
  wallets = createWalletRepository(stores.db)
  deps = {
    ...stores.runtime,
    marks: NO_MARKS,
    wallets,
    workspaces: createWorkspaceRepository(stores.db),
    mails: createMailRepository(stores.db),
    addressBook: createAddressBook(),
    catalog: createCatalog({ live: { ethereum: NODE, base: NODE }, test: {} }),
    secretBox: createSecretBox(new Uint8Array(32).fill(7)),
  }
})

const newWorkspace = async (name = 'Shop') =>
  (await createWorkspace(deps as never, { name, ownerEmail: `${name}@example.com`, actor: 'test' })).id

async function add(key: HDNodeWallet, workspaceId: string, change: Partial<AddWalletInput> = {}) {
  const value = key.neuter().extendedKey
  return await addWallet(deps, { workspaceId, mode: 'live', family: 'evm', kind: 'xpub', value, ...change })
}

/** Derives as `invoices` does, and lets the scanners of these networks watch everything. */
async function prepare(networks: readonly NetworkId[] = ['ethereum', 'base']): Promise<void> {
  await deriveAhead({ ...deps, wallets }, 24)
  for (const network of networks) {
    const rows = await wallets.unmarkedWatches('live', 'evm', network, 10_000)
    const keys = rows.map(({ matchKey }) => matchKey)
    await wallets.markWatched('live', 'evm', network, keys)
  }
}

const search = (network: NetworkId, client: Parameters<typeof searchKeyHistories>[1]['client']) =>
  searchKeyHistories({ wallets }, { mode: 'live', network, client })

async function materialOf(id: string): Promise<KeyMaterial> {
  const material = await wallets.findMaterial(id)
  if (material === null) throw new Error('no such material')
  return material
}

/** Searches on both networks until nothing changes. */
async function searchAll(key: HDNodeWallet, used: Partial<Record<NetworkId, readonly number[]>>): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    await prepare()
    const changes = await Promise.all(
      (['ethereum', 'base'] as const).map((network) => search(network, nodeWith(key, ...(used[network] ?? [])))),
    )
    if (changes.every((count) => count === 0)) return
  }
  throw new Error('the search does not end')
}

/** Addresses that invoices would get next, in their order. */
async function offered(materialId: string, count: number): Promise<readonly string[]> {
  const source = createAddressSource({ ...deps, marks: NO_MARKS, wallets, catalog: standIn({ hasNode: () => true }) })
  const material = await materialOf(materialId)
  const taken: string[] = []
  for (let index = 0; index < count; index += 1) taken.push((await source.take(material, 'ethereum')).address)
  return taken
}

describe('a key that was used before', () => {
  // Guarantee: a payer who pays an address of an earlier shop never settles a stranger's invoice.
  deepTest(
    'goes on at the last used index + 1 of all networks, over a gap, and offers nothing before',
    {
      timeout: 120_000,
    },
    async () => {
      const key = freshKey()
      const { wallet, key: standing } = await add(key, await newWorkspace())
      expect(standing).toMatchObject({ ready: false, waitingFor: ['ethereum', 'base'], startIndex: 0 })
      await prepare()
      await expect(offered(wallet.materialId, 1)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
      await searchAll(key, { ethereum: [0, 1, 2, 3, 4, 5, 6, 7, 12], base: [150] })
      expect((await materialOf(wallet.materialId)).history).toEqual({
        state: 'known',
        waitingFor: [],
        searched: ['base', 'ethereum'],
        lastUsedIndex: 150,
        startIndex: 151,
        givenIndex: null,
      })
      expect(await offered(wallet.materialId, 2)).toEqual([addressOf(key, 151), addressOf(key, 152)])
      // The indexes in front are no gap of ours, and are not handed out when invoices leave others unused.
      const invoices = { claimsPaid: async () => new Set<string>() }
      expect(
        await walletGap({ wallets, invoices: standIn(invoices) }, await materialOf(wallet.materialId), 1_000),
      ).toMatchObject({
        requiredGap: 16,
      })
      let hours = 0
      const clock = { now: () => stores.runtime.clock.now() + hours * 3_600_000 }
      const reclaimer = createIndexReclaimer({
        ...deps,
        wallets,
        clock,
        invoices: standIn({ claimsTaken: async () => new Set() }),
      })
      for (; hours < 3; hours += 1) await reclaimer.run()
      const { returned } = await materialOf(wallet.materialId)
      expect(returned.length).toBeGreaterThan(0)
      expect(Math.min(...returned)).toBe(151)
    },
  )

  deepTest('looks a whole gap beyond each use, also on networks that had ended', async () => {
    const key = freshKey()
    const { wallet } = await add(key, await newWorkspace())
    await prepare()
    expect(await search('ethereum', nodeWith(key, GAP - 1 + GAP))).toBe(1)
    expect((await materialOf(wallet.materialId)).history).toMatchObject({ searched: ['ethereum'], startIndex: 0 })
    await search('base', nodeWith(key, GAP - 1))
    expect((await materialOf(wallet.materialId)).history).toMatchObject({
      waitingFor: ['base', 'ethereum'],
      searched: [],
      startIndex: GAP,
    })
    await searchAll(key, { ethereum: [GAP - 1 + GAP], base: [GAP - 1] })
    expect((await materialOf(wallet.materialId)).history).toMatchObject({ state: 'known', startIndex: 2 * GAP })
  })

  it('starts at 0 when no network shows any use', async () => {
    const key = freshKey()
    const { wallet } = await add(key, await newWorkspace())
    await searchAll(key, {})
    expect((await materialOf(wallet.materialId)).history).toMatchObject({ state: 'known', lastUsedIndex: null })
    expect(await offered(wallet.materialId, 1)).toEqual([addressOf(key, 0)])
  })

  // Guarantee: a node that fails, lies by silence or does not watch yet never makes an address count as unused.
  it('stays held back by an unclear answer, by addresses that are not watched, and by those not derived', async () => {
    const key = freshKey()
    const { wallet } = await add(key, await newWorkspace())
    const state = async () => (await materialOf(wallet.materialId)).history
    const before = await state()
    expect(await search('ethereum', nodeWith(key))).toBe(0)
    await prepare(['base'])
    expect(await search('ethereum', nodeWith(key))).toBe(0)
    const down = { used: () => Promise.reject(new NodeUnreliable('syncing')) }
    await expect(search('base', down)).rejects.toThrow('syncing')
    expect(await search('base', {})).toBe(0)
    expect(await state()).toEqual(before)
    expect(await awaitedNetworks({ wallets })).toEqual(new Set(['live:ethereum', 'live:base']))
    await expect(offered(wallet.materialId, 1)).rejects.toMatchObject({ code: 'NO_WALLET_FOR_ASSET' })
  })

  deepTest('one key that a node cannot answer for holds up no other', async () => {
    const [bad, good] = [freshKey(), freshKey()]
    const workspaceId = await newWorkspace()
    await add(bad, workspaceId)
    const { wallet } = await add(good, workspaceId)
    await prepare()
    const picky = {
      used: async (rows: readonly { readonly address: string }[]) => {
        if (rows[0]?.address === addressOf(bad, 0)) throw new NodeUnreliable('no')
        return new Set<string>()
      },
    }
    await expect(search('ethereum', picky)).rejects.toThrow('no')
    expect((await materialOf(wallet.materialId)).history).toMatchObject({ searched: ['ethereum'] })
  })

  // Guarantee: two scanners, a late one and a dead one come to the same start; results only ever raise it.
  it('comes to one start whatever runs at the same time, twice or late', async () => {
    const key = freshKey()
    const { wallet } = await add(key, await newWorkspace())
    await prepare()
    // Nodes answer once all eight scanners have asked: each of them then looked from index 0.
    let waiting = 0
    let allRequested = () => {}
    const pending = new Promise<void>((resolve) => {
      allRequested = resolve
    })
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        search(nth % 2 ? 'ethereum' : 'base', {
          used: async (rows) => {
            waiting += 1
            if (waiting === 8) allRequested()
            await pending
            return await nodeWith(key, nth).used(rows)
          },
        }),
      ),
    )
    expect(outcomes.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0)
    expect((await materialOf(wallet.materialId)).history).toMatchObject({ state: 'searching', startIndex: 8 })
    // One that looked from the start of before found nothing: that says nothing about what lies behind.
    expect(await wallets.endHistorySearch(wallet.materialId, 'ethereum', 0)).toBe(false)
    expect(await wallets.recordUsedIndex(wallet.materialId, 3)).toBe(false)
    await searchAll(key, { ethereum: [7] })
    expect(await wallets.recordUsedIndex(wallet.materialId, 50)).toBe(false)
    expect((await materialOf(wallet.materialId)).history).toMatchObject({ state: 'known', startIndex: 8 })
  })
})

describe('a start index', () => {
  deepTest('stands for the search, at once and while it runs', async () => {
    const workspaceId = await newWorkspace()
    const key = freshKey()
    const { wallet, key: standing } = await add(key, workspaceId, { startIndex: 40 })
    expect(standing).toMatchObject({ ready: true, startIndex: 40, givenIndex: 40 })
    await prepare()
    expect(await offered(wallet.materialId, 1)).toEqual([addressOf(key, 40)])

    const other = freshKey()
    const second = await add(other, workspaceId)
    await prepare()
    await search('ethereum', nodeWith(other, 12))
    // Never in front of what was found in use.
    const given = await add(other, workspaceId, { startIndex: 5 })
    expect(given.key).toMatchObject({ ready: true, startIndex: 13, lastUsedIndex: 12, givenIndex: 5 })
    // What a search finds after that is not asked for any more.
    expect(await search('base', nodeWith(other, 100))).toBe(0)
    await prepare()
    expect(await offered(second.wallet.materialId, 1)).toEqual([addressOf(other, 13)])
  })

  it('is taken until the first address is offered, and refused after that', async () => {
    const workspaceId = await newWorkspace()
    const key = freshKey()
    const { wallet } = await add(key, workspaceId, { startIndex: 0 })
    expect((await add(key, workspaceId, { startIndex: 9 })).key).toMatchObject({ startIndex: 9 })
    await prepare()
    expect(await offered(wallet.materialId, 1)).toEqual([addressOf(key, 9)])
    const late = add(key, workspaceId, { startIndex: 500 })
    await expect(late).rejects.toMatchObject({
      details: [{ path: 'startIndex', message: expect.stringMatching(/are already in use/) }],
    })
    // What lies behind already is no change.
    expect((await add(key, workspaceId, { startIndex: 3 })).key).toMatchObject({ startIndex: 9 })
  })

  it.each([-1, 1.5, Number.NaN, 100_001])('refuses %s', async (startIndex) => {
    const added = add(freshKey(), await newWorkspace(), { startIndex })
    await expect(added).rejects.toMatchObject({ details: [{ path: 'startIndex' }] })
  })

  it('is demanded in live mode without a node, not in test mode, and for no other kind', async () => {
    deps = { ...deps, catalog: createCatalog({ live: {}, test: {} }) }
    const workspaceId = await newWorkspace()
    const key = freshKey()
    await expect(add(key, workspaceId)).rejects.toMatchObject({
      details: [{ path: 'startIndex', message: expect.stringMatching(/No connected node can check/) }],
    })
    expect(await wallets.listWallets(workspaceId)).toEqual([])
    expect((await add(key, workspaceId, { mode: 'test' })).key).toMatchObject({ ready: true, startIndex: 0 })
    await add(key, workspaceId, { startIndex: 2 })
    // Adding again asks for nothing that is known.
    expect((await add(key, workspaceId)).key).toMatchObject({ startIndex: 2 })
    const pool = add(freshKey(), workspaceId, { kind: 'pool', value: addressOf(freshKey(), 0), startIndex: 1 })
    await expect(pool).rejects.toMatchObject({ details: [{ path: 'startIndex' }] })
    const doge = add(freshKey(), workspaceId, { family: 'dogecoin' })
    await expect(doge).rejects.toMatchObject({ details: [{ path: 'startIndex' }] })
  })

  // Guarantee: who knows another shop's public key can neither end its search nor push its addresses out of its wallet's sight.
  it('of another workspace changes nothing of a shared key', async () => {
    const key = freshKey()
    const { wallet } = await add(key, await newWorkspace('Victim'))
    const before = await materialOf(wallet.materialId)
    const stranger = await newWorkspace('Stranger')
    for (const startIndex of [0, 100_000]) {
      expect((await add(key, stranger, { startIndex })).key).toMatchObject({ ready: false, startIndex: 0 })
    }
    expect(await materialOf(wallet.materialId)).toEqual(before)
  })
})

// Guarantee: adding a key that cannot be searched now does not stop the shop that works.
deepTest('leaves the wallet of before in use until the new key is ready', async () => {
  const workspaceId = await newWorkspace()
  const [old, fresh] = [freshKey(), freshKey()]
  const first = await add(old, workspaceId, { startIndex: 0 })
  const locked = async () => {
    const availability = createQuoteAvailability({
      wallets,
      catalog: { ...createCatalog({ live: { ethereum: NODE }, test: {} }), hasNode: () => true },
      cursors: { find: async () => null } as never,
      rates: standIn({ rateFor: () => Promise.reject(new Error('not asked')) }),
      addresses: { canTake: async () => true },
      clock: { now: () => stores.runtime.clock.now() + 10 },
    })
    return (
      await availability.require(workspaceId, 'live', createCatalog({ live: {}, test: {} }).asset('eth_ethereum'))
    ).id
  }
  const second = await add(fresh, workspaceId)
  expect(await locked()).toBe(first.wallet.materialId)
  await searchAll(fresh, {})
  expect(await locked()).toBe(second.wallet.materialId)
})
