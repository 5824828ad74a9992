import { createHash } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Family } from '#shared/domain/enumerations.ts'
import type { ScriptType } from '#shared/domain/script-type.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { NO_MARKS } from '#shared/usecases/marks/marks.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { addWallet } from '#test/support/add-wallet.ts'
import { sampleOf } from '#test/support/depth.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { ACCOUNT_KEY_VECTORS } from '#test/vectors/account-keys.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'
import type { AddWalletDeps } from './add-wallet.ts'
import { deriveAhead } from './address-headroom.ts'
import { keyStanding } from './key-history.ts'
import { verifyKeys } from './verify-keys.ts'
import { walletGap } from './wallet-gap.ts'

const stores = useStores()
const secretBox = createSecretBox(new Uint8Array(32).fill(7))
const addressBook = createAddressBook()
const [, ypub, zpub] = ACCOUNT_KEY_VECTORS.map(({ key }) => key)
/** The same account keys under `xpub`, which is how native SegWit is stored whatever was pasted. */
const BARE = {
  ypub: 'xpub6C6nQwHaWbSrzs5tZ1q7m5R9cPK9eYpNMFesiXsYrgc1P8bvLLAet9JfHjYXKjToD8cBRswJXXbbFpXgwsswVPAZzKMa1jUp2kVkGVUaJa7',
  zpub: ADDRESS_VECTORS.rows[0].xpub,
}

let deps: AddWalletDeps
let workspaceId: string
beforeEach(async () => {
  deps = {
    ...stores.runtime,
    marks: NO_MARKS,
    wallets: createWalletRepository(stores.db),
    workspaces: createWorkspaceRepository(stores.db),
    mails: createMailRepository(stores.db),
    catalog: createCatalog({ live: {}, test: {} }),
    addressBook,
    secretBox,
  }
  for (const name of ['key_material', 'wallets', 'addresses'])
    await stores.db.connection.collection(name).deleteMany({})
  workspaceId = (await createWorkspace(deps as never, { name: 'Shop', ownerEmail: 'a@example.com', actor: 'test' })).id
})

/** A wallet whose key was never searched, with five indexes offered. */
async function storedKey(
  family: Family,
  xpub: string,
  scriptType: ScriptType | null,
): Promise<{ walletId: string; materialId: string }> {
  const fingerprint = createHash('sha256').update(xpub, 'utf8').digest('hex').slice(0, 32)
  const materialId = `live:${family}:${fingerprint}`
  const collection = (name: string) => stores.db.connection.collection<{ _id: string }>(name)
  const walletId = stores.runtime.random.uuid()
  const at = new Date(1_795_298_172_101)
  await collection('key_material').insertOne({
    _id: materialId,
    ...{ mode: 'live', family, kind: 'xpub', fingerprint, sandbox: false, scriptType },
    sealed: secretBox.seal(xpub, `key-material:${materialId}`),
    ...{ nextIndex: 5, derivedCount: 8, returned: [2], createdAt: at },
  } as never)
  await collection('wallets').insertOne({
    _id: walletId,
    ...{
      workspaceId,
      mode: 'live',
      family,
      networks: [family],
      kind: 'xpub',
      materialId,
      createdAt: at,
      disabledAt: null,
    },
  } as never)
  return { walletId, materialId }
}

const wallets = () => createWalletRepository(stores.db)

// Guarantee: an update neither changes an address of a stored key nor holds it back.
it.each(
  sampleOf(
    [
      ['the zpub of BIP 84', 'bitcoin', BARE.zpub, 'bc1q', 'p2wpkh'],
      ['a ypub, of which native SegWit was made', 'bitcoin', BARE.ypub, 'bc1q', 'p2wpkh'],
      ['a key of Litecoin', 'litecoin', ADDRESS_VECTORS.rows[2].xpub, 'ltc1q', 'p2wpkh'],
      ['a key of Dogecoin', 'dogecoin', ADDRESS_VECTORS.rows[3].xpub, 'D', 'p2pkh'],
      ['a key of EVM networks', 'evm', ADDRESS_VECTORS.rows[4].xpub, '0x', null],
      ['a key of TRON', 'tron', ADDRESS_VECTORS.rows[5].xpub, 'T', null],
    ] as const,
    1,
  ),
)('%s goes on as it was stored', async (_what, family, xpub, begins, scriptType) => {
  const { materialId } = await storedKey(family, xpub, scriptType)
  await verifyKeys({ wallets: wallets(), addressBook, secretBox })
  await deriveAhead({ ...deps, wallets: wallets() }, 4)
  const rows = await wallets().addressesAt(materialId, [8])
  expect(rows[0]?.address.startsWith(begins)).toBe(true)
  expect(rows[0]?.address).toBe(addressBook.derive(family, 'live', xpub, 8, 1)[0]?.address)
  expect(await wallets().reserveIndexes(materialId, 3)).toEqual([2, 5, 6])
  const material = await wallets().findMaterial(materialId)
  expect(material && keyStanding(material)).toMatchObject({ scriptType, ready: true, startIndex: 0 })
  const invoices = { claimsPaid: async () => new Set<string>() }
  expect(
    material && (await walletGap({ wallets: wallets(), invoices: standIn(invoices) }, material, 100)).requiredGap,
  ).toBe(7)
})

it('the same key with the script type that it always had is the same wallet', async () => {
  const { walletId, materialId } = await storedKey('bitcoin', BARE.zpub, 'p2wpkh')
  const input = { workspaceId, mode: 'live', family: 'bitcoin', kind: 'xpub' } as const
  for (const added of [
    await addWallet(deps, { ...input, value: zpub ?? '' }),
    await addWallet(deps, { ...input, value: BARE.zpub, scriptType: 'p2wpkh' }),
  ]) {
    expect(added.wallet).toMatchObject({ id: walletId, materialId })
    expect(added.key).toMatchObject({ scriptType: 'p2wpkh', ready: true, startIndex: 0 })
  }
  expect(await wallets().listMaterials()).toHaveLength(1)
  // Addresses were offered: where it starts is settled.
  const late = addWallet(deps, { ...input, value: zpub ?? '', startIndex: 70 })
  await expect(late).rejects.toMatchObject({ details: [{ path: 'startIndex' }] })
})

it('a ypub of which native SegWit was made is another wallet with its own addresses', async () => {
  expect(addressBook.normalise('bitcoin', 'live', ypub ?? '').xpub).toBe(`sh(wpkh(${BARE.ypub}/0/*))`)
  const { walletId, materialId } = await storedKey('bitcoin', BARE.ypub, 'p2wpkh')
  const input = { workspaceId, mode: 'live', family: 'bitcoin', kind: 'xpub', startIndex: 0 } as const
  const added = await addWallet(deps, { ...input, value: ypub ?? '' })
  expect(added.wallet.id).not.toBe(walletId)
  expect(added.firstAddresses[0]).toBe('37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf')
  await deriveAhead({ ...deps, wallets: wallets() }, 4)
  const [before] = await wallets().addressesAt(materialId, [8])
  expect(before?.address).toMatch(/^bc1q/)
})
