import { HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import { type AddWalletDeps, type AddWalletInput, addWallet } from './add-wallet.ts'
import { openKeyMaterial } from './key-material.ts'

const stores = useStores()
const account = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'")
const xpub = account.neuter().extendedKey
const box = createSecretBox(new Uint8Array(32).fill(7))

let deps: AddWalletDeps
beforeEach(() => {
  deps = {
    ...stores.ambient,
    wallets: createWalletRepository(stores.db),
    workspaces: createWorkspaceRepository(stores.db),
    mails: createMailRepository(stores.db),
    addressBook: createAddressBook(),
    catalog: createCatalog({ live: {}, test: {} }),
    secretBox: box,
  }
})

async function workspace(ownerEmail: string): Promise<string> {
  const id = stores.ambient.random.uuid()
  await createWorkspaceRepository(stores.db).insert({
    id,
    name: ownerEmail,
    ownerEmail,
    status: 'active',
    limits: { invoicesPerMonth: null, paymentLinks: null, webhookEndpoints: null },
    policy: {
      toleranceBps: 0,
      lateGraceMs: 3_600_000,
      lateDriftBps: 200,
      newLifeMs: 86_400_000,
      quoteMs: 1_200_000,
      spreadBps: 0,
      arsSeries: 'crypto',
      confirmations: {},
    },
    epoch: 0,
    createdAt: stores.ambient.clock.now(),
  })
  return id
}

const input = (workspaceId: string, change: Partial<AddWalletInput> = {}): AddWalletInput => ({
  workspaceId,
  mode: 'live',
  family: 'evm',
  kind: 'xpub',
  value: xpub,
  ...change,
})
const mails = async () => stores.db.connection.collection('mails').find().sort({ to: 1 }).toArray()

describe('addWallet', () => {
  it('serves all five EVM networks, shows the first addresses and derives enough to begin with', async () => {
    const { wallet, firstAddresses } = await addWallet(deps, input(await workspace('a@example.com')))
    expect(wallet.networks).toEqual(['ethereum', 'bsc', 'polygon', 'base', 'arbitrum'])
    expect(firstAddresses).toEqual([0, 1, 2].map((index) => account.deriveChild(0).deriveChild(index).address))
    const [material] = await createWalletRepository(stores.db).listMaterials()
    expect(material).toMatchObject({ id: wallet.materialId, derivedCount: 32, nextIndex: 0 })
    // Guarantee: the key is stored sealed only.
    expect(JSON.stringify(material)).not.toContain(xpub)
    expect(material && openKeyMaterial(box, material)).toBe(xpub)
    const rows = await createWalletRepository(stores.db).addressesAt(wallet.materialId, [0, 31])
    expect(rows.map(({ index, watchedOn }) => [index, watchedOn])).toEqual([
      [0, []],
      [31, []],
    ])
  })

  it('gives the same wallet when the key is added again', async () => {
    const workspaceId = await workspace('b@example.com')
    const first = await addWallet(deps, input(workspaceId, { mode: 'test' }))
    expect(await addWallet(deps, input(workspaceId, { mode: 'test' }))).toEqual(first)
  })

  // Guarantee: nobody's key is taken over in silence.
  it('accepts a key that another workspace uses, and mails both owners once', async () => {
    await stores.db.connection.dropDatabase()
    await addWallet(deps, input(await workspace('first@example.com')))
    expect(await mails()).toEqual([])
    const second = await workspace('second@example.com')
    await addWallet(deps, input(second))
    await addWallet(deps, input(second))
    expect((await mails()).map(({ to, template }) => [to, template])).toEqual([
      ['first@example.com', 'shared_key_material'],
      ['second@example.com', 'shared_key_material'],
    ])
  })

  it.each<[string, Partial<AddWalletInput>, string, RegExp]>([
    ['a private key', { value: account.extendedKey }, 'value', /private key/],
    ['another kind', { kind: 'pool' }, 'kind', /supported: xpub/],
    ['another family', { family: 'bitcoin' }, 'family', /supported: evm/],
    ['a network of another family', { networks: ['base', 'tron'] }, 'networks.1', /ethereum, bsc/],
    ['no network', { networks: [] }, 'networks', /at least one/],
  ])('refuses %s', async (_what, change, path, message) => {
    await expect(addWallet(deps, input(await workspace('c@example.com'), change))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path, message: expect.stringMatching(message) }],
    })
  })

  it('refuses an unknown workspace and the public sandbox key', async () => {
    await expect(addWallet(deps, input(stores.ambient.random.uuid()))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const sandbox = { mode: 'test', value: deps.addressBook.sandboxKey('evm').xpub } as const
    await expect(addWallet(deps, input(await workspace('d@example.com'), sandbox))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })
})
