import { beforeEach, describe, expect, it } from 'vitest'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { OWNERSHIP_PROOFS } from '#shared/db/wallets/ownership-models.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import type { AdminCaller } from '#test/support/admin.ts'
import { sampleOf } from '#test/support/depth.ts'
import { evmAccounts, proofOf } from '#test/support/prove-control.ts'
import { useStores } from '#test/support/stores.ts'
import { add, addProved, op, pool, refusal, single, useTwoShops } from './wallet-proofs.fixture.ts'

const stores = useStores()
const shops = useTwoShops(stores)
const { mails, offered } = shops
/** Two shops that do not know of each other, on their own installation. */
let alice: AdminCaller
let bob: AdminCaller
beforeEach(() => {
  alice = shops.alice()
})
const openBob = async () => {
  bob = await shops.openBob()
}

describe('a proof displaces', () => {
  it.each(
    sampleOf(
      [
        ['a pool, by a pool', pool, pool],
        ['a single address, by a pool', single, pool],
        ['a pool, by a single address', pool, single],
        ['a single address, by the same', single, single],
      ],
      3,
    ),
  )('%s: the owners of both are mailed, and only the prover goes on receiving there', async (_name, theirs, ours) => {
    const accounts = evmAccounts(1)
    await add(alice, theirs(accounts))
    await openBob()
    await addProved(bob, ours(accounts), accounts)
    expect(await offered(alice)).toEqual([])
    expect(await offered(bob)).toEqual([accounts[0]?.address])
    expect((await mails()).filter((mail) => mail.startsWith('address_'))).toEqual([
      'address_displaced alice@example.com',
      'address_proved bob@example.com',
    ])
    // Neither side reads the other's name or address.
    const texts = JSON.stringify(await stores.db.collection(MAILS).find({ workspaceId: alice.workspaceId }).toArray())
    expect(texts).not.toContain(bob.workspaceId)
    expect(texts).not.toContain('bob@example.com')
  })

  it('a wallet of one address or key, which cannot be enabled before its own proof', async () => {
    const accounts = evmAccounts(1)
    const { wallet } = await add(alice, single(accounts))
    await openBob()
    await addProved(bob, single(accounts), accounts)
    const walletId = wallet.id
    const lost = { disabledAt: expect.any(Number), proof: { proved: 0, of: 1, isDisplaced: true } }
    expect((await alice.caller.wallets.list(alice.at)).items).toMatchObject([lost])
    const enable = () => alice.caller.wallets.enable({ ...alice.at, ...op(), walletId })
    expect(await refusal(enable())).toMatchObject({ code: 'CONFLICT' })
    expect(await refusal(add(alice, single(accounts)))).toMatchObject({ details: [{ path: 'proof' }] })
    const { nonce, text } = await alice.caller.wallets.challenge({ ...alice.at, ...op(), about: { walletId } })
    const signatures = [{ address: '', signature: accounts[0]?.sign(text) ?? '' }]
    const proved = await alice.caller.wallets.prove({ ...alice.at, ...op(), walletId, proof: { nonce, signatures } })
    expect(proved).toMatchObject({ changed: true, proved: 1, wallet: { proof: { isDisplaced: false } } })
    expect(await enable()).toMatchObject({ changed: true, wallet: { disabledAt: null } })
    // The newest proof says who has the key now.
    expect((await bob.caller.wallets.list(bob.at)).items).toMatchObject([{ proof: { isDisplaced: true } }])
  })

  it('nobody when the workspace proves what only it has, pool address by address', async () => {
    const accounts = evmAccounts(3)
    const { wallet } = await add(alice, pool(accounts))
    await openBob()
    const about = { walletId: wallet.id }
    const { nonce, text, signers } = await alice.caller.wallets.challenge({ ...alice.at, ...op(), about })
    expect(signers.count).toBe(3)
    const signatures = accounts.slice(0, 2).map(({ address, sign }) => ({ address, signature: sign(text) }))
    const request = { ...alice.at, ...op(), ...about, proof: { nonce, signatures } }
    expect(await alice.caller.wallets.prove(request)).toMatchObject({ changed: true, proved: 2 })
    expect(await alice.caller.wallets.prove(request)).toMatchObject({ changed: false, proved: 2 })
    expect((await mails()).filter((mail) => mail.startsWith('address_'))).toEqual([])
    expect(await offered(alice)).toHaveLength(3)
  })

  it('two proofs at once leave one owner, and both sides of the second are mailed when it is repeated', async () => {
    const accounts = evmAccounts(1)
    await openBob()
    const entered = pool(accounts)
    const [one, two] = [await proofOf(alice, entered, accounts), await proofOf(bob, entered, accounts)]
    const answers = await Promise.all([add(alice, entered, one), add(bob, entered, two)].map(refusal))
    if (answers[0] !== 'accepted') await add(alice, entered, one)
    if (answers[1] !== 'accepted') await add(bob, entered, two)
    const rows = await stores.db.collection(OWNERSHIP_PROOFS).find().toArray()
    const [owner, other] = rows[0]?.workspaceId === alice.workspaceId ? [alice, bob] : [bob, alice]
    expect(await offered(owner)).toEqual([accounts[0]?.address])
    expect(await offered(other)).toEqual([])
    expect((await mails()).filter((mail) => mail.startsWith('address_'))).toHaveLength(2)
  })
})

it('a suspended workspace keeps what it proved, and the only one left needs no proof for anything else', async () => {
  const accounts = evmAccounts(1)
  await openBob()
  await addProved(bob, pool(accounts), accounts)
  await alice.deps.workspaces.update(bob.workspaceId, { status: 'suspended' })
  expect(await refusal(add(alice, pool(accounts)))).toMatchObject({ details: [{ path: 'proof' }] })
  expect(await add(alice, pool(evmAccounts(1)))).toMatchObject({ changed: true })
  expect(await createWalletRepository(stores.db).listWallets(bob.workspaceId)).toMatchObject([{ disabledAt: null }])
})
