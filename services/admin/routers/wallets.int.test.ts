import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { beforeEach, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { ADDRESSES, KEY_MATERIAL, WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { createQuoteOffers } from '#shared/usecases/quotes/addresses.ts'
import { createQuoteAvailability } from '#shared/usecases/quotes/availability.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { ACCOUNT_KEY_VECTORS } from '#test/vectors/account-keys.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const stores = useStores()
// What is added beside other live workspaces needs a proof: `wallet-proofs.int.test.ts`.
beforeEach(async () => {
  await stores.db.collection(WORKSPACES).updateMany({}, { $set: { status: 'suspended' } })
})
const HOUR_MS = 3_600_000
const account = (n: number) => HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', `m/44'/60'/${n}'`)
let accounts = 0
/** A key that no other test of this file uses. */
const freshKey = () => {
  accounts += 1
  return account(accounts)
}
/** No node is configured here that could be asked for earlier use of the key. */
const evm = (key: HDNodeWallet) => ({
  ...{ family: 'evm' as const, kind: 'xpub' as const, startIndex: 0 },
  value: key.neuter().extendedKey,
})
const addressOf = (key: HDNodeWallet, index: number) => key.deriveChild(0).deriveChild(index).address
const action = () => ({ opId: randomUUID() })

async function stored() {
  const { db } = stores
  return await Promise.all([
    db.collection(KEY_MATERIAL).countDocuments(),
    db.collection(WALLETS).countDocuments(),
    db.collection(ADDRESSES).countDocuments(),
  ])
}

/** Which key material a payment method of this workspace would use so many hours from now; null when none. */
async function addressChosenOn({ deps, workspaceId }: AdminCaller, inHours: number): Promise<string | null> {
  const { wallets, catalog } = deps.instance
  const availability = createQuoteAvailability({
    wallets,
    catalog: { ...catalog, hasNode: () => true },
    cursors: standIn({ find: async () => null }),
    rates: standIn({ rateFor: () => Promise.reject(new Error('not asked')) }),
    addresses: { canTake: async () => true },
    clock: { now: () => deps.clock.now() + inHours * HOUR_MS },
  })
  const material = await availability
    .require(workspaceId, 'live', catalog.asset('eth_ethereum'))
    .catch((error: { code?: string }) => (error.code === 'NO_WALLET_FOR_ASSET' ? null : Promise.reject(error)))
  return material?.id ?? null
}

it('shows what a key would be, whole and with its paths, and stores nothing', async () => {
  const { caller, at } = await adminCaller(stores, { role: 'admin', mode: 'live' })
  const before = await stored()
  const key = freshKey()
  const shown = await caller.wallets.prepare({ ...at, ...evm(key) })
  expect(shown.networks).toEqual(['ethereum', 'bsc', 'polygon', 'base', 'arbitrum'])
  expect(shown.addresses).toEqual(
    [0, 1, 2, 3, 4].map((index) => ({ index, path: `${key.path}/0/${index}`, address: addressOf(key, index) })),
  )
  expect(shown).toMatchObject({ standing: 'none', listed: null })
  const pool = {
    family: 'evm' as const,
    kind: 'pool' as const,
    value: [0, 1, 1].map((n) => addressOf(key, n)).join('\n'),
  }
  expect(await caller.wallets.prepare({ ...at, ...pool })).toMatchObject({ listed: { count: 2, repeated: 1 } })
  expect(await stored()).toEqual(before)
})

// Guarantee: a private key in any form is refused, kept nowhere and not repeated.
it.each([
  ['an extended private key', (key: HDNodeWallet) => key.extendedKey],
  ['a raw private key', (key: HDNodeWallet) => key.privateKey],
  ['a recovery phrase', () => ADDRESS_VECTORS.phrase],
])('refuses %s', async (_form, form) => {
  const { caller, at } = await adminCaller(stores, { mode: 'live' })
  const value = form(freshKey())
  const before = await stored()
  for (const call of [
    caller.wallets.prepare({ ...at, ...evm(freshKey()), value }),
    caller.wallets.add({ ...at, ...action(), ...evm(freshKey()), value }),
  ]) {
    const error = await call.then(
      () => null,
      (thrown: { code: string; cause: { details: unknown } }) => thrown,
    )
    expect(error?.code).toBe('BAD_REQUEST')
    expect(JSON.stringify(error?.cause.details)).toMatch(/private key/)
    expect(JSON.stringify(error)).not.toContain(value)
  }
  expect(await stored()).toEqual(before)
})

// Guarantee: nobody who takes over a session can turn payers to another wallet before the owners had time to stop it.
it('a further live wallet waits, is announced to every owner, and can be cancelled', async () => {
  const owners = ['olivia@example.com', 'omar@example.com']
  const shop = await adminCaller(stores, {
    mode: 'live',
    deps: ({ instance }) => ({ instance: { ...instance, ownersOf: async () => owners } }),
  })
  const { caller, at, workspaceId, deps } = shop
  const first = await caller.wallets.add({ ...at, ...action(), ...evm(freshKey()) })
  expect(first).toMatchObject({ startsAt: null, changed: true })
  const [original] = await deps.instance.wallets.listWallets(workspaceId)
  expect(await addressChosenOn(shop, 0)).toBe(original?.materialId)

  const request = { ...at, ...action(), ...evm(freshKey()), reason: 'new cold storage' }
  const second = await caller.wallets.add(request)
  expect(second.startsAt).toBeGreaterThan(deps.clock.now() + 23.9 * HOUR_MS)
  expect(second.wallet.startsAt).toBe(second.startsAt)
  expect(await addressChosenOn(shop, 23)).toBe(original?.materialId)
  expect(await addressChosenOn(shop, 25)).not.toBe(original?.materialId)
  // Its addresses are derived, hence watched, at once.
  const newest = (await deps.instance.wallets.listWallets(workspaceId)).find(({ id }) => id === second.wallet.id)
  expect(await deps.instance.wallets.findMaterial(newest?.materialId ?? '')).toMatchObject({ derivedCount: 32 })

  expect(await caller.wallets.add(request)).toMatchObject({ changed: false, wallet: { id: second.wallet.id } })
  const mails = await stores.db.collection(MAILS).find({ workspaceId, template: 'wallet_changed' }).toArray()
  expect(mails.map(({ to }) => to).sort()).toEqual([...owners, ...owners].sort())
  expect(mails.at(-1)?.data['first_address']).toBe(second.firstAddresses[0])
  expect(await deps.instance.audits.listBySubject(second.wallet.id)).toMatchObject([
    { action: 'wallet.added', actor: 'user:olivia@example.com', detail: { reason: 'new cold storage' } },
  ])

  const cancel = { ...at, ...action(), walletId: second.wallet.id, reason: 'not ours' }
  expect(await caller.wallets.disable(cancel)).toMatchObject({ changed: true, wallet: { startsAt: null } })
  expect(await addressChosenOn(shop, 25)).toBe(original?.materialId)
  // A late repetition of the first wish does not bring it back.
  expect(await caller.wallets.add(request)).toMatchObject({ changed: false })
  expect(await addressChosenOn(shop, 25)).toBe(original?.materialId)
  const rows = await deps.instance.audits.listBySubject(second.wallet.id)
  expect(rows.map(({ action }) => action)).toEqual(['wallet.added', 'wallet.cancelled'])
})

it('a wallet that is enabled again waits as well; disabling works at once', async () => {
  const shop = await adminCaller(stores, { mode: 'live' })
  const { caller, at } = shop
  const { wallet } = await caller.wallets.add({ ...at, ...action(), ...evm(freshKey()) })
  expect(await addressChosenOn(shop, 0)).not.toBeNull()
  await caller.wallets.disable({ ...at, ...action(), walletId: wallet.id })
  for (const hours of [0, 25]) expect(await addressChosenOn(shop, hours)).toBeNull()
  // Emptying a workspace does not make its next wallet a first one.
  expect((await caller.wallets.add({ ...at, ...action(), ...evm(freshKey()) })).startsAt).not.toBeNull()
  const enabled = await caller.wallets.enable({ ...at, ...action(), walletId: wallet.id })
  expect(enabled.startsAt).not.toBeNull()
  expect(await addressChosenOn(shop, 0)).toBeNull()
  expect(await addressChosenOn(shop, 25)).not.toBeNull()
})

// Guarantee: no wallet of a live workspace begins to wait unannounced.
it('is not stored when the mail to one of its owners cannot be', async () => {
  const owners = ['olivia@example.com', 'omar@example.com']
  const { caller, at, workspaceId } = await adminCaller(stores, {
    mode: 'live',
    deps: ({ instance }) => ({ instance: { ...instance, ownersOf: async () => owners } }),
  })
  await caller.wallets.add({ ...at, ...action(), ...evm(freshKey()) })
  const wallets = () => stores.db.collection(WALLETS).countDocuments({ workspaceId })
  const mails = () => stores.db.collection(MAILS).countDocuments({ workspaceId })
  expect([await wallets(), await mails()]).toEqual([1, 2])
  const request = { ...at, ...action(), ...evm(freshKey()) }
  // The store refuses the second of the two.
  await stores.db.connection.db?.command({ collMod: MAILS.name, validator: { to: { $ne: 'omar@example.com' } } })
  try {
    await expect(caller.wallets.add(request)).rejects.toThrow()
    expect([await wallets(), await mails()]).toEqual([1, 2])
  } finally {
    await stores.db.connection.db?.command({ collMod: MAILS.name, validator: {} })
  }
  expect(await caller.wallets.add(request)).toMatchObject({ changed: true })
  expect([await wallets(), await mails()]).toEqual([2, 4])
})

// Guarantee: addresses slipped into a pool are not shown to payers before the owners had time to stop it.
it('addresses added to a live pool wait; those that were there go on', async () => {
  const shop = await adminCaller(stores, { mode: 'live' })
  const { caller, at, deps, workspaceId } = shop
  const key = freshKey()
  const pool = (...numbers: number[]) => ({
    ...{ family: 'evm' as const, kind: 'pool' as const, networks: ['ethereum' as const] },
    value: numbers.map((n) => addressOf(key, n)).join('\n'),
  })
  await caller.wallets.add({ ...at, ...action(), ...pool(0) })
  expect((await caller.wallets.add({ ...at, ...action(), ...pool(0, 1, 2) })).startsAt).not.toBeNull()
  const [wallet] = await deps.instance.wallets.listWallets(workspaceId)
  const material = await deps.instance.wallets.findMaterial(wallet?.materialId ?? '')
  if (material === null) throw new Error('no material')
  const offered = async (inHours: number) => {
    const clock = { now: () => deps.clock.now() + inHours * HOUR_MS }
    const catalog = { ...deps.instance.catalog, hasNode: () => false }
    const offers = createQuoteOffers({ ...deps, ...deps.instance, clock, catalog })
    const info = deps.instance.catalog.asset('eth_ethereum')
    const found = new Set<string>()
    for (;;) {
      const offer = await offers.take(material, info, 1n, workspaceId).catch(() => null)
      if (offer === null) return found.size
      found.add(offer.address)
    }
  }
  expect(await offered(0)).toBe(1)
  expect(await offered(25)).toBe(3)
  expect(await caller.wallets.use({ ...at, walletId: wallet?.id ?? '' })).toEqual({
    kind: 'pool',
    total: 3,
    free: 3,
    reserved: 1,
  })
})

it('test mode waits for nothing and announces nothing', async () => {
  const { caller, at, workspaceId } = await adminCaller(stores)
  await caller.wallets.add({ ...at, ...action(), ...evm(freshKey()) })
  const second = await caller.wallets.add({ ...at, ...action(), ...evm(freshKey()) })
  expect(second).toMatchObject({ startsAt: null, changed: true })
  expect(await stores.db.collection(MAILS).countDocuments({ workspaceId })).toBe(0)
  const { items, delayMs } = await caller.wallets.list(at)
  expect(delayMs).toBe(0)
  expect(items[0]).toMatchObject({ id: second.wallet.id, supersededOn: [] })
  expect(items[1]?.supersededOn).toContain('ethereum')
  const use = await caller.wallets.use({ ...at, walletId: second.wallet.id })
  expect(use).toEqual({
    kind: 'xpub',
    nextIndex: 0,
    lastPaidIndex: null,
    requiredGap: 0,
    usualGap: 20,
    isComplete: true,
  })
})

it('knows nothing of foreign wallets', async () => {
  const theirs = await adminCaller(stores)
  const { wallet } = await theirs.caller.wallets.add({ ...theirs.at, ...action(), ...evm(freshKey()) })
  const { caller, at } = await adminCaller(stores)
  const request = { ...at, ...action(), walletId: wallet.id }
  await expect(caller.wallets.use({ ...at, walletId: wallet.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(caller.wallets.disable(request)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(caller.wallets.enable(request)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect((await theirs.caller.wallets.list(theirs.at)).items).toMatchObject([{ id: wallet.id, disabledAt: null }])
})

const [plain, nested] = ACCOUNT_KEY_VECTORS
const bitcoin = { family: 'bitcoin' as const, kind: 'xpub' as const }

// Guarantee: no wallet is made of a guessed script type.
it('asks for the script type of an xpub with the first address of each, and stores nothing without it', async () => {
  const { caller, at } = await adminCaller(stores, { role: 'admin', mode: 'live' })
  const before = await stored()
  const value = plain?.key ?? ''
  const answer = await caller.wallets.prepare({ ...at, ...bitcoin, value })
  expect(answer).toMatchObject({ addresses: [], standing: 'none', key: { scriptType: null, needsStartIndex: true } })
  expect(answer.key?.choices.map(({ scriptType, path }) => [scriptType, path])).toEqual([
    ['p2wpkh', "m/84'/0'/0'/0/0"],
    ['p2sh-p2wpkh', "m/49'/0'/0'/0/0"],
    ['p2pkh', "m/44'/0'/0'/0/0"],
  ])
  expect(answer.key?.choices.at(-1)?.address).toBe(plain?.first)
  const refused = caller.wallets.add({ ...at, ...action(), ...bitcoin, value, startIndex: 0 })
  await expect(refused).rejects.toMatchObject({
    cause: {
      details: [{ path: 'scriptType', message: expect.stringContaining(`p2pkh (first address ${plain?.first}`) }],
    },
  })
  expect(await stored()).toEqual(before)

  const chosen = { ...at, ...bitcoin, value, scriptType: 'p2pkh' as const }
  expect((await caller.wallets.prepare(chosen)).addresses[0]?.address).toBe(plain?.first)
  // Without a node nothing can be searched: where to begin is asked for.
  await expect(caller.wallets.add({ ...chosen, ...action() })).rejects.toMatchObject({
    cause: { details: [{ path: 'startIndex' }] },
  })
  expect(await stored()).toEqual(before)
  const added = await caller.wallets.add({ ...chosen, ...action(), startIndex: 4 })
  expect(added.firstAddresses[0]).toBe(plain?.first)
  const { items } = await caller.wallets.list(at)
  expect(items[0]?.key).toEqual({
    ...{ scriptType: 'p2pkh', waitingFor: [], startIndex: 4, lastUsedIndex: null, givenIndex: 4 },
  })
})

it('takes a start index for a key that is searched, notes it, and tells the owners', async () => {
  const nodes = { live: { bitcoin: { rpcUrls: ['http://127.0.0.1:1'] } }, test: {} }
  const shop = await adminCaller(stores, {
    mode: 'live',
    deps: ({ instance }) => ({ instance: { ...instance, catalog: createCatalog(nodes) } }),
  })
  const { caller, at, workspaceId, deps } = shop
  const request = { ...at, ...bitcoin, value: nested?.key ?? '' }
  const { key } = await caller.wallets.prepare(request)
  expect(key).toMatchObject({ scriptType: 'p2sh-p2wpkh', needsStartIndex: false, search: { networks: ['bitcoin'] } })
  expect(key?.search.words).toMatch(/all spent/)
  const first = await caller.wallets.add({ ...request, ...action() })
  expect(first.wallet.key).toMatchObject({ waitingFor: ['bitcoin'], startIndex: 0 })

  const again = { ...request, ...action(), startIndex: 30, reason: 'the wallet shows 30' }
  const given = await caller.wallets.add(again)
  expect(given).toMatchObject({ changed: true, startsAt: null, wallet: { id: first.wallet.id } })
  expect(given.wallet.key).toMatchObject({ waitingFor: [], startIndex: 30, givenIndex: 30 })
  expect(await caller.wallets.add(again)).toMatchObject({ changed: false })
  const rows = await deps.instance.audits.listBySubject(first.wallet.id)
  expect(rows.map(({ action, detail }) => [action, detail['start_index']])).toEqual([
    ['wallet.added', null],
    ['wallet.start_index_set', 30],
  ])
  const mails = await stores.db.collection(MAILS).find({ workspaceId, template: 'wallet_changed' }).toArray()
  expect(mails.map(({ data }) => data['change'])).toEqual(['added', 'given a start index'])
})
