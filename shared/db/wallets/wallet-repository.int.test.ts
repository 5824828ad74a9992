import { describe, expect, it } from 'vitest'
import type { WatchedAddress } from '#shared/ports/addresses.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import { useStores } from '#test/support/stores.ts'
import { createWalletRepository } from './wallet-repository.ts'

const stores = useStores()
const repository = () => createWalletRepository(stores.db)

const material = (id: string, overrides: Partial<KeyMaterial> = {}): KeyMaterial => ({
  id,
  mode: 'test',
  family: 'evm',
  kind: 'xpub',
  fingerprint: 'f'.repeat(32),
  sealed: 'v1.sealed',
  sandbox: false,
  scriptType: null,
  nextIndex: 0,
  derivedCount: 0,
  returned: [],
  createdAt: 1_000,
  ...overrides,
})

const address = (materialId: string, index: number, overrides: Partial<WatchedAddress> = {}): WatchedAddress => ({
  mode: 'test',
  family: 'evm',
  matchKey: `${materialId}-${String(index).padStart(4, '0')}`,
  address: `0x${index}`,
  materialId,
  index,
  watchedOn: [],
  ...overrides,
})

async function derived(count: number): Promise<string> {
  const id = stores.runtime.random.uuid()
  await repository().upsertMaterial(material(id))
  await repository().addDerived(
    id,
    Array.from({ length: count }, (_, index) => address(id, index)),
    count,
  )
  return id
}

describe('key material', () => {
  it('is stored once; a second upsert gets the first record', async () => {
    const id = stores.runtime.random.uuid()
    const results = await Promise.all(
      [1, 2, 3, 4].map((nth) => repository().upsertMaterial(material(id, { sealed: `sealed-${nth}` }))),
    )
    expect(new Set(results.map((result) => result.sealed)).size).toBe(1)
    expect(await repository().findMaterial(id)).toEqual(results[0])
    expect(await repository().listMaterials()).toContainEqual(results[0])
    expect(await repository().findMaterial('unknown')).toBeNull()
  })
})

describe('reserveIndexes', () => {
  // Guarantee: no index is offered to two processes, and none without a derived, watched address.
  it('gives each derived index out once, however many ask', async () => {
    const id = await derived(50)
    const taken = (await Promise.all(Array.from({ length: 20 }, () => repository().reserveIndexes(id, 4)))).flat()
    expect([...taken].sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index))
    expect(await repository().reserveIndexes(id, 4)).toEqual([])
    expect(await repository().findMaterial(id)).toMatchObject({ nextIndex: 50, derivedCount: 50 })
  })

  it('offers returned indexes first', async () => {
    const id = await derived(10)
    expect(await repository().reserveIndexes(id, 6)).toEqual([0, 1, 2, 3, 4, 5])
    await repository().returnIndexes(id, [2, 4, 5])
    await repository().returnIndexes(id, [4])
    expect(await repository().reserveIndexes(id, 2)).toEqual([2, 4])
    expect(await repository().reserveIndexes(id, 3)).toEqual([5, 6, 7])
    expect(await repository().reserveIndexes(id, 9)).toEqual([8, 9])
    expect(await repository().reserveIndexes('unknown', 1)).toEqual([])
    expect(await repository().reserveIndexes(id, 0)).toEqual([])
  })
})

describe('addresses', () => {
  it('are inserted once and read by index and match key', async () => {
    const id = await derived(3)
    await repository().addDerived(id, [address(id, 2, { address: 'other' }), address(id, 3)], 2)
    expect(await repository().addressesAt(id, [3, 2, 99])).toEqual([address(id, 2), address(id, 3)])
    expect(await repository().findMaterial(id)).toMatchObject({ derivedCount: 3 })
    const found = await repository().findAddresses('test', 'evm', [`${id}-0001`, 'unknown'])
    expect(found).toEqual([address(id, 1)])
    expect(await repository().findAddresses('live', 'evm', [`${id}-0001`])).toEqual([])
  })

  // Guarantee: an address is issued only after the scanner of its network said that it watches it.
  it('lack a mark until the network sets it, each network for itself', async () => {
    const id = stores.runtime.random.uuid()
    const litecoin = (index: number) => address(id, index, { family: 'tron' })
    await repository().addDerived(id, [litecoin(0), litecoin(1), litecoin(2)], 3)
    const unmarked = async (network: 'tron' | 'solana') =>
      (await repository().unmarkedWatches('test', 'tron', network, 10)).map((row) => row.matchKey)
    expect(await unmarked('tron')).toHaveLength(3)
    await repository().markWatched('test', 'tron', 'tron', [`${id}-0000`, `${id}-0001`])
    await repository().markWatched('test', 'tron', 'tron', [`${id}-0000`])
    expect(await unmarked('tron')).toEqual([`${id}-0002`])
    expect(await unmarked('solana')).toHaveLength(3)
    await repository().markWatched('test', 'tron', 'solana', [`${id}-0000`])
    expect((await repository().addressesAt(id, [0]))[0]?.watchedOn).toEqual(['solana', 'tron'])
    expect(await unmarked('solana')).toHaveLength(2)
    const first = await repository().watchPage('test', 'tron', null, 2)
    const rest = await repository().watchPage('test', 'tron', first.at(-1)?.matchKey ?? null, 2)
    expect([...first, ...rest].map((row) => row.matchKey)).toEqual([`${id}-0000`, `${id}-0001`, `${id}-0002`])
  })
})

describe('wallets', () => {
  it('are one per workspace and material, and name the workspaces that share a material', async () => {
    const materialId = stores.runtime.random.uuid()
    const wallet = (workspaceId: string) => ({
      id: stores.runtime.random.uuid(),
      workspaceId,
      mode: 'test' as const,
      family: 'evm' as const,
      networks: ['ethereum' as const],
      kind: 'xpub' as const,
      materialId,
      createdAt: 1_000,
      disabledAt: null,
    })
    const first = wallet('ws-a')
    expect(await repository().insertWallet(first)).toBe('inserted')
    expect(await repository().insertWallet(wallet('ws-a'))).toBe('exists')
    expect(await repository().insertWallet(wallet('ws-b'))).toBe('inserted')
    expect(await repository().listWallets('ws-a')).toEqual([first])
    expect((await repository().workspacesUsing(materialId)).toSorted()).toEqual(['ws-a', 'ws-b'])
  })
})
