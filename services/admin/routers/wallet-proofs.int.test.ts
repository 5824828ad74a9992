import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS } from '#shared/db/wallets/ownership-models.ts'
import { createOwnershipRepository } from '#shared/db/wallets/ownership-repository.ts'
import { ADDRESSES, KEY_MATERIAL, WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { evmAccounts, type Provable, proofOf } from '#test/support/prove-control.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const op = () => ({ opId: randomUUID() })
const DAY_MS = 86_400_000

const KEPT = [KEY_MATERIAL, WALLETS, ADDRESSES, OWNERSHIP_PROOFS, OWNERSHIP_CHALLENGES, MAILS, AUDIT_LOG]

/** Two shops that do not know of each other, on an installation of their own. */
let alice: AdminCaller
let bob: AdminCaller
beforeEach(async () => {
  for (const { name } of [WORKSPACES, ...KEPT]) await stores.db.connection.collection(name).deleteMany({})
  alice = await adminCaller(stores, { mode: 'live', email: 'alice@example.com' })
})
const openBob = async () => {
  bob = await adminCaller(stores, { mode: 'live', email: 'bob@example.com' })
}

const pool = (accounts: readonly { address: string }[]): Provable => ({
  ...({ family: 'evm', kind: 'pool' } as const),
  value: accounts.map(({ address }) => address).join('\n'),
})
const single = ([account]: readonly { address: string }[]): Provable => ({
  ...({ family: 'evm', kind: 'address' } as const),
  value: account?.address ?? '',
})
const add = ({ caller, at }: AdminCaller, entered: Provable, proof?: Awaited<ReturnType<typeof proofOf>>) =>
  caller.wallets.add({ ...at, ...op(), ...entered, ...(proof !== undefined && { proof }) })
const addProved = async (who: AdminCaller, entered: Provable, accounts: ReturnType<typeof evmAccounts>) =>
  await add(who, entered, await proofOf(who, entered, accounts))

/** What a caller sees of a refusal. */
const refusal = async (call: Promise<unknown>) =>
  await call.then(
    () => 'accepted',
    ({ code, message, cause }: { code: string; message: string; cause: { details?: unknown } }) => ({
      ...{ code, message },
      details: cause.details,
    }),
  )
const mails = async () =>
  (await stores.db.collection(MAILS).find().toArray()).map(({ template, to }) => `${template} ${to}`).toSorted()
const stored = async () => {
  const count = (name: string) => stores.db.connection.collection(name).countDocuments()
  return await Promise.all(KEPT.map(({ name }) => count(name)))
}
const offered = async ({ deps, workspaceId }: AdminCaller) => {
  const { wallets } = deps.instance
  const own = (await wallets.listWallets(workspaceId)).filter(({ disabledAt }) => disabledAt === null)
  const rows = await Promise.all(own.map(({ materialId }) => wallets.heldPage(materialId, null, 100)))
  return rows.flat().map(({ address }) => address)
}

describe('the only live workspace', () => {
  it('adds without a proof, as ever, and reads nothing of proofs', async () => {
    const accounts = evmAccounts(2)
    expect(await add(alice, pool(accounts))).toMatchObject({ changed: true, wallet: { proof: null } })
    expect(await alice.caller.wallets.list(alice.at)).toMatchObject({ asksForProofs: false, items: [{ proof: null }] })
  })

  it('keeps what it has when a second one comes, and may add to it what it has already', async () => {
    const accounts = evmAccounts(2)
    await add(alice, pool(accounts))
    await openBob()
    expect(await add(alice, pool(accounts))).toMatchObject({ changed: true })
    const list = await alice.caller.wallets.list(alice.at)
    expect(list).toMatchObject({ asksForProofs: true, items: [{ disabledAt: null, proof: { proved: 0, of: 2 } }] })
    expect(await refusal(add(alice, pool(evmAccounts(1))))).toMatchObject({ code: 'BAD_REQUEST' })
  })
})

describe('among several live workspaces', () => {
  // Guarantee: whoever adds an address learns nothing of what others have, and leaves nothing behind.
  it('an addition without a proof is refused in the same words, known elsewhere or not, and stores nothing', async () => {
    const [pooled, proved, one] = [evmAccounts(1), evmAccounts(1), evmAccounts(1)]
    await add(alice, pool(pooled))
    await add(alice, single(one))
    await openBob()
    await addProved(alice, pool(proved), proved)
    const before = await stored()
    const answers = await Promise.all(
      [evmAccounts(1), pooled, proved, one].flatMap((accounts) =>
        [pool(accounts), single(accounts)].map((entered) => refusal(add(bob, entered))),
      ),
    )
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({
      details: [{ path: 'proof', message: expect.stringMatching(/prove that you control/) }],
    })
    expect(await stored()).toEqual(before)
    const shown = [evmAccounts(1), pooled, proved].map((accounts) =>
      bob.caller.wallets.prepare({ ...bob.at, ...pool(accounts) }),
    )
    for (const { addresses: _addresses, ...preview } of await Promise.all(shown))
      expect(preview).toMatchObject({ standing: 'none', asksForProofs: true })
  })

  it('a proved pool, address and key are added, listed as proved, and recorded', async () => {
    await openBob()
    const [many, one, key] = [
      evmAccounts(3),
      evmAccounts(1),
      HDNodeWallet.fromSeed(Buffer.alloc(32, 7)).derivePath("m/44'/60'/0'"),
    ]
    expect(await addProved(bob, pool(many), many)).toMatchObject({
      changed: true,
      wallet: { proof: { proved: 3, of: 3 } },
    })
    expect(await addProved(bob, single(one), one)).toMatchObject({ wallet: { proof: { proved: 1, of: 1 } } })
    const entered: Provable = { family: 'evm', kind: 'xpub', value: key.neuter().extendedKey, startIndex: 0 }
    const first = key.deriveChild(0).deriveChild(0)
    const signer = { address: first.address, sign: (text: string) => first.signMessageSync(text) }
    expect(await addProved(bob, entered, [signer])).toMatchObject({
      wallet: { kind: 'xpub', proof: { proved: 1, of: 1 } },
    })
    const rows = await stores.db
      .collection(AUDIT_LOG)
      .find({ workspaceId: bob.workspaceId, action: 'wallet.added' })
      .toArray()
    expect(rows.map(({ detail }) => String(detail['proved'])).toSorted()).toEqual(['1', '3', 'key'])
  })

  it('a key is not proved by its second address', async () => {
    await openBob()
    const key = HDNodeWallet.fromSeed(Buffer.alloc(32, 8)).derivePath("m/44'/60'/0'")
    const entered: Provable = { family: 'evm', kind: 'xpub', value: key.neuter().extendedKey, startIndex: 0 }
    const second = key.deriveChild(0).deriveChild(1)
    const proof = await proofOf(bob, entered, [])
    const { text } = await bob.caller.wallets.challenge({ ...bob.at, ...op(), about: { entered } })
    const signature = second.signMessageSync(text)
    for (const address of ['', second.address, key.deriveChild(0).deriveChild(0).address])
      expect(await refusal(add(bob, entered, { ...proof, signatures: [{ address, signature }] }))).not.toBe('accepted')
    expect(await offered(bob)).toEqual([])
  })

  it('only live mode asks', async () => {
    await openBob()
    const test = { ...bob, at: { ...bob.at, mode: 'test' as const } }
    expect(await add(test, pool(evmAccounts(1)))).toMatchObject({ changed: true, wallet: { proof: null } })
    expect(await refusal(proofOf(test, pool(evmAccounts(1)), []))).toMatchObject({ code: 'BAD_REQUEST' })
  })
})

// Guarantee: nothing but a fresh signature of this text, for this workspace and these addresses, proves anything.
describe('a proof is refused, with nothing stored, when', () => {
  const accounts = evmAccounts(2)
  beforeEach(openBob)

  it.each<[string, (given: Awaited<ReturnType<typeof proofOf>>) => Promise<[AdminCaller, Provable, typeof given]>]>([
    [
      'one signature is wrong',
      async (given) => [
        bob,
        pool(accounts),
        {
          ...given,
          signatures: given.signatures.map(({ address }, i) => ({
            address,
            signature: given.signatures[(i + 1) % 2]?.signature ?? '',
          })),
        },
      ],
    ],
    [
      'one signature is missing',
      async (given) => [bob, pool(accounts), { ...given, signatures: given.signatures.slice(1) }],
    ],
    [
      'an address is not asked for',
      async (given) => [
        bob,
        pool(accounts),
        {
          ...given,
          signatures: [...given.signatures, { address: evmAccounts(1)[0]?.address ?? '', signature: '0x00' }],
        },
      ],
    ],
    [
      'the nonce is of another challenge',
      async (given) => [bob, pool(accounts), { ...given, nonce: (await proofOf(bob, pool(accounts), accounts)).nonce }],
    ],
    ['the nonce is invented', async (given) => [bob, pool(accounts), { ...given, nonce: 'ab'.repeat(16) }]],
    ['another workspace asked for it', async (given) => [alice, pool(accounts), given]],
    [
      'it is about fewer addresses',
      async (given) => [bob, pool(accounts.slice(1)), { ...given, signatures: given.signatures.slice(1) }],
    ],
    [
      'it is about another use',
      async () => [bob, pool(accounts.slice(1)), await proofOf(bob, single(accounts.slice(1)), accounts.slice(1))],
    ],
  ])('%s', async (_name, change) => {
    const [who, entered, proof] = await change(await proofOf(bob, pool(accounts), accounts))
    const [, wallets, addresses, proofs] = await stored()
    expect(await refusal(add(who, entered, proof))).toMatchObject({ code: 'BAD_REQUEST', details: [{ path: 'proof' }] })
    expect(await stored().then(([, ...rest]) => rest.slice(0, 3))).toEqual([wallets, addresses, proofs])
  })

  it('it was used', async () => {
    const proof = await proofOf(bob, pool(accounts), accounts)
    await add(bob, pool(accounts), proof)
    expect(await refusal(add(bob, pool(accounts), proof))).toMatchObject({ details: [{ path: 'proof' }] })
  })

  it('it has expired', async () => {
    const proof = await proofOf(bob, pool(accounts), accounts)
    const { clock } = bob.deps
    const later = {
      ...bob,
      ...(await adminCaller(stores, {
        mode: 'live',
        email: 'bob@example.com',
        workspaceId: bob.workspaceId,
        deps: () => ({ clock: { ...clock, now: () => clock.now() + DAY_MS } }),
      })),
    }
    expect(await refusal(add(later, pool(accounts), proof))).toMatchObject({ details: [{ path: 'proof' }] })
    expect(await add(bob, pool(accounts), proof)).toMatchObject({ changed: true })
  })

  it('it was signed for another installation', async () => {
    const { nonce, text } = await bob.caller.wallets.challenge({
      ...bob.at,
      ...op(),
      about: { entered: pool(accounts) },
    })
    const id = await createOwnershipRepository(stores.db).installationId('never taken')
    expect(text).toContain(`installation ${id} `)
    const foreign = text.replace(id, randomUUID())
    const signatures = accounts.map(({ address, sign }) => ({ address, signature: sign(foreign) }))
    expect(await refusal(add(bob, pool(accounts), { nonce, signatures }))).toMatchObject({
      details: [{ path: 'proof' }],
    })
  })

  it('two requests answer one challenge at once: one is carried out', async () => {
    const proof = await proofOf(bob, pool(accounts), accounts)
    const both = await Promise.allSettled([add(bob, pool(accounts), proof), add(bob, pool(accounts), proof)])
    expect(both.filter((answer) => answer.status === 'fulfilled' && answer.value.changed)).toHaveLength(1)
    expect(await stores.db.collection(OWNERSHIP_PROOFS).countDocuments()).toBe(2)
    expect(await stores.db.collection(AUDIT_LOG).countDocuments({ action: /^wallet\.(added|extended)/ })).toBe(1)
  })
})

describe('a proof displaces', () => {
  it.each([
    ['a pool, by a pool', pool, pool],
    ['a single address, by a pool', single, pool],
    ['a pool, by a single address', pool, single],
    ['a single address, by the same', single, single],
  ])('%s: the owners of both are mailed, and only the prover goes on receiving there', async (_name, theirs, ours) => {
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
    const wish = { ...alice.at, ...op(), ...about, proof: { nonce, signatures } }
    expect(await alice.caller.wallets.prove(wish)).toMatchObject({ changed: true, proved: 2 })
    expect(await alice.caller.wallets.prove(wish)).toMatchObject({ changed: false, proved: 2 })
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

// Guarantee: a wallet of somebody else cannot be proved, named or probed.
it('answers for a wallet of others as for one that is not there', async () => {
  const accounts = evmAccounts(1)
  const { wallet } = await add(alice, pool(accounts))
  await openBob()
  const proof = { nonce: 'ab'.repeat(16), signatures: [{ address: '', signature: '0x00' }] }
  const ask = (walletId: string) => [
    bob.caller.wallets.challenge({ ...bob.at, ...op(), about: { walletId } }),
    bob.caller.wallets.prove({ ...bob.at, ...op(), walletId, proof }),
  ]
  const [foreign, unknown] = await Promise.all([wallet.id, randomUUID()].map((id) => Promise.all(ask(id).map(refusal))))
  expect(foreign).toEqual(unknown)
  expect(foreign?.[0]).toMatchObject({ code: 'NOT_FOUND' })
})

it('the same request for a challenge again gives the same text', async () => {
  await openBob()
  const wish = { ...bob.at, ...op(), about: { entered: pool(evmAccounts(2)) } }
  const first = await bob.caller.wallets.challenge(wish)
  expect(await bob.caller.wallets.challenge(wish)).toEqual(first)
  expect(await stores.db.collection(OWNERSHIP_CHALLENGES).countDocuments()).toBe(1)
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
