import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { OWNERSHIP_CHALLENGES, OWNERSHIP_PROOFS } from '#shared/db/wallets/ownership-models.ts'
import { createOwnershipRepository } from '#shared/db/wallets/ownership-repository.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { deepTest, sampleOf } from '#test/support/depth.ts'
import { evmAccounts, proofOf, type Subject } from '#test/support/prove-control.ts'
import { useStores } from '#test/support/stores.ts'
import { add, addProved, op, pool, refusal, single, useTwoShops } from './wallet-proofs.fixture.ts'

const stores = useStores()
const shops = useTwoShops(stores)
const { stored, offered } = shops
/** Two shops that do not know of each other, on their own installation. */
let alice: AdminCaller
let bob: AdminCaller
beforeEach(() => {
  alice = shops.alice()
})
const openBob = async () => {
  bob = await shops.openBob()
}

const DAY_MS = 86_400_000

describe('the only live workspace', () => {
  it('adds without a proof, as ever, and reads nothing of proofs', async () => {
    const accounts = evmAccounts(2)
    expect(await add(alice, pool(accounts))).toMatchObject({ changed: true, wallet: { proof: null } })
    expect(await alice.caller.wallets.list(alice.at)).toMatchObject({ requiresProofs: false, items: [{ proof: null }] })
  })

  it('keeps what it has when a second one comes, and may add to it what it has already', async () => {
    const accounts = evmAccounts(2)
    await add(alice, pool(accounts))
    await openBob()
    expect(await add(alice, pool(accounts))).toMatchObject({ changed: true })
    const list = await alice.caller.wallets.list(alice.at)
    expect(list).toMatchObject({ requiresProofs: true, items: [{ disabledAt: null, proof: { proved: 0, of: 2 } }] })
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
      expect(preview).toMatchObject({ standing: 'none', requiresProofs: true })
  })

  deepTest('a proved pool, address and key are added, listed as proved, and recorded', async () => {
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
    const entered: Subject = { family: 'evm', kind: 'xpub', value: key.neuter().extendedKey, startIndex: 0 }
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

  deepTest('a key is not proved by its second address', async () => {
    await openBob()
    const key = HDNodeWallet.fromSeed(Buffer.alloc(32, 8)).derivePath("m/44'/60'/0'")
    const entered: Subject = { family: 'evm', kind: 'xpub', value: key.neuter().extendedKey, startIndex: 0 }
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

  it.each<[string, (given: Awaited<ReturnType<typeof proofOf>>) => Promise<[AdminCaller, Subject, typeof given]>]>(
    sampleOf(
      [
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
          async (given) => [
            bob,
            pool(accounts),
            { ...given, nonce: (await proofOf(bob, pool(accounts), accounts)).nonce },
          ],
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
      ],
      3,
    ),
  )('%s', async (_name, change) => {
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
        deps: ({ instance }) => ({ instance: { ...instance, clock: { ...clock, now: () => clock.now() + DAY_MS } } }),
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

// Guarantee: a wallet of somebody else cannot be proved, named or probed.
it('answers for a wallet of others as for one that is not there', async () => {
  const accounts = evmAccounts(1)
  const { wallet } = await add(alice, pool(accounts))
  await openBob()
  const proof = { nonce: 'ab'.repeat(16), signatures: [{ address: '', signature: '0x00' }] }
  const request = (walletId: string) => [
    bob.caller.wallets.challenge({ ...bob.at, ...op(), about: { walletId } }),
    bob.caller.wallets.prove({ ...bob.at, ...op(), walletId, proof }),
  ]
  const [foreign, unknown] = await Promise.all(
    [wallet.id, randomUUID()].map((id) => Promise.all(request(id).map(refusal))),
  )
  expect(foreign).toEqual(unknown)
  expect(foreign?.[0]).toMatchObject({ code: 'NOT_FOUND' })
})

it('the same request for a challenge again gives the same text', async () => {
  await openBob()
  const request = { ...bob.at, ...op(), about: { entered: pool(evmAccounts(2)) } }
  const first = await bob.caller.wallets.challenge(request)
  expect(await bob.caller.wallets.challenge(request)).toEqual(first)
  expect(await stores.db.collection(OWNERSHIP_CHALLENGES).countDocuments()).toBe(1)
})
