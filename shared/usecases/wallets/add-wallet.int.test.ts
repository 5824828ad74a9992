import { HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { DEFAULT_POLICY } from '#shared/usecases/workspaces/create-workspace.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { auditRow } from '#test/support/audit-parts.ts'
import { emptyDatabase } from '#test/support/empty-database.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import type { AddWalletDeps, AddWalletInput } from './add-wallet.ts'
import { openKeyMaterial } from './key-material.ts'

const stores = useStores()
const account = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', "m/44'/60'/0'")
const xpub = account.neuter().extendedKey
const at = (index: number) => account.deriveChild(1).deriveChild(index).address
const POOL = [0, 1, 2, 3].map(at)
const box = createSecretBox(new Uint8Array(32).fill(7))

let deps: AddWalletDeps
beforeEach(() => {
  deps = {
    ...stores.runtime,
    marks: NO_MARKS,
    wallets: createWalletRepository(stores.db),
    workspaces: createWorkspaceRepository(stores.db),
    mails: createMailRepository(stores.db),
    addressBook: createAddressBook(),
    catalog: createCatalog({ live: {}, test: {} }),
    secretBox: box,
  }
})

async function workspace(ownerEmail: string): Promise<string> {
  const id = stores.runtime.random.uuid()
  await createWorkspaceRepository(stores.db).insert(
    {
      id,
      name: ownerEmail,
      ownerEmail,
      status: 'active',
      limits: { invoicesPerMonth: null, paymentLinks: null, webhookEndpoints: null },
      policy: DEFAULT_POLICY,
      epoch: 0,
      createdAt: stores.runtime.clock.now(),
    },
    auditRow(stores.runtime.random.uuid()),
  )
  return id
}

const input = (workspaceId: string, change: Partial<AddWalletInput> = {}): AddWalletInput => ({
  workspaceId,
  mode: 'live',
  family: 'evm',
  kind: 'xpub',
  value: xpub,
  // No node is configured here that could be asked for earlier use.
  ...((change.kind ?? 'xpub') === 'xpub' && { startIndex: 0 }),
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
    await emptyDatabase(stores.db)
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

  it('takes a pool, tops it up, and says what is new, known and repeated', async () => {
    const pool = input(await workspace('pool@example.com'), { kind: 'pool' })
    const first = await addWallet(deps, { ...pool, value: `${POOL[0]}\n${POOL[1]},${POOL[0]}` })
    expect(first).toMatchObject({ firstAddresses: POOL.slice(0, 2), listed: { added: 2, known: 0, repeated: 1 } })
    const again = await addWallet(deps, { ...pool, value: POOL.slice(1).join('\n') })
    expect(again.wallet).toEqual(first.wallet)
    expect(again.listed).toEqual({ added: 2, known: 1, repeated: 0 })
    const wallets = createWalletRepository(stores.db)
    expect(await wallets.countHeld(first.wallet.materialId)).toBe(4)
    // Guarantee: listed addresses are watches like all others, and none is issued before a scanner has it.
    const unmarked = await wallets.unmarkedWatches('live', 'evm', 'base', 1_000)
    const keys = POOL.map((address) => address.slice(2).toLowerCase())
    expect(unmarked.map(({ matchKey }) => matchKey)).toEqual(expect.arrayContaining(keys))
  })

  it('lets two workspaces list one address and mails both, but never in two ways', async () => {
    await emptyDatabase(stores.db)
    const single = (workspaceId: string) => input(workspaceId, { kind: 'address', value: at(9) })
    const one = await addWallet(deps, single(await workspace('one@example.com')))
    const two = await addWallet(deps, single(await workspace('two@example.com')))
    expect(two.wallet.materialId).toBe(one.wallet.materialId)
    expect((await mails()).map(({ to }) => to)).toEqual(['one@example.com', 'two@example.com'])
    const pool = (workspaceId: string, value: string) => addWallet(deps, input(workspaceId, { kind: 'pool', value }))
    await pool(await workspace('three@example.com'), POOL.join())
    await pool(await workspace('four@example.com'), at(3))
    expect((await mails()).map(({ to }) => to)).toEqual(
      ['four@example.com', 'one@example.com', 'three@example.com', 'two@example.com'].toSorted(),
    )
    const workspaceId = await workspace('five@example.com')
    await expect(pool(workspaceId, [at(8), at(9)].join())).rejects.toMatchObject({
      details: [{ path: 'value', message: expect.stringMatching(/cannot be used in this way: number 2/) }],
    })
    // Guarantee: a refused list stores nothing.
    const wallets = createWalletRepository(stores.db)
    expect(await wallets.listWallets(workspaceId)).toEqual([])
    expect(await wallets.findAddresses('live', 'evm', [at(8).slice(2).toLowerCase()])).toEqual([])
  })

  it('enables a disabled wallet that is added again', async () => {
    const workspaceId = await workspace('off@example.com')
    const { wallet } = await addWallet(deps, input(workspaceId))
    expect((await createWalletRepository(stores.db).setDisabled(wallet.id, 1))?.disabledAt).toBe(1)
    expect((await addWallet(deps, input(workspaceId))).wallet.disabledAt).toBeNull()
  })

  it.each(['bitcoin', 'litecoin', 'dogecoin', 'tron'] as const)('serves %s by its extended key', async (family) => {
    const type = family === 'bitcoin' || family === 'litecoin' ? { scriptType: 'p2wpkh' as const } : {}
    const added = await addWallet(deps, input(await workspace(`${family}@example.com`), { family, ...type }))
    expect(added.wallet.networks).toEqual([family])
    expect(new Set(added.firstAddresses).size).toBe(3)
  })

  it.each<[string, Partial<AddWalletInput>, string, RegExp]>([
    ['a private key', { value: account.extendedKey }, 'value', /private key/],
    ['a private key as an address', { kind: 'address', value: account.privateKey }, 'value', /private key/],
    ['an extended key of another mode', { family: 'bitcoin', mode: 'test' }, 'value', /main network.*tpub/],
    ['an extended key of Solana', { family: 'solana' }, 'value', /pool of addresses/],
    ['a pool of Bitcoin', { family: 'bitcoin', kind: 'pool', value: at(0) }, 'value', /extended public key/],
    ['two single addresses', { kind: 'address', value: POOL.join() }, 'value', /has a single address/],
    ['a network of another family', { networks: ['base', 'tron'] }, 'networks.1', /ethereum, bsc/],
    ['no network', { networks: [] }, 'networks', /at least one/],
  ])('refuses %s', async (_what, change, path, message) => {
    await expect(addWallet(deps, input(await workspace('c@example.com'), change))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path, message: expect.stringMatching(message) }],
    })
  })

  it('refuses an unknown workspace and the public sandbox key', async () => {
    await expect(addWallet(deps, input(stores.runtime.random.uuid()))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const sandbox = { mode: 'test', value: deps.addressBook.sandboxKey('evm').xpub } as const
    await expect(addWallet(deps, input(await workspace('d@example.com'), sandbox))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    })
  })
})
