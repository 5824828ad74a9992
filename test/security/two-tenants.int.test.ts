import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import type { AdminCaller } from '#test/support/admin.ts'
import { sampleOf } from '#test/support/depth.ts'
import { evmAccounts, type Subject } from '#test/support/prove-control.ts'
import { useStores } from '#test/support/stores.ts'
import { twoTenants } from '#test/support/two-tenants.ts'

const stores = useStores()
const world = twoTenants(stores)
let alice: AdminCaller
let bob: AdminCaller

beforeAll(world.open)
beforeEach(async () => {
  await world.empty()
  alice = await world.shop('alice')
})
const openBob = async () => {
  bob = await world.shop('bob')
}

type Accounts = ReturnType<typeof evmAccounts>
const pool = (accounts: readonly { readonly address: string }[]): Subject => ({
  ...({ family: 'evm', kind: 'pool' } as const),
  value: accounts.map(({ address }) => address).join('\n'),
})
const single = ([account]: Accounts): Subject => ({
  ...({ family: 'evm', kind: 'address' } as const),
  value: account?.address ?? '',
})
/** An account key, with those who can sign for its first addresses. */
function accountKey(count: number): { readonly entered: Subject; readonly accounts: Accounts } {
  const key = HDNodeWallet.createRandom('', "m/44'/60'/0'")
  const accounts = Array.from({ length: count }, (_, index) => {
    const child = key.deriveChild(0).deriveChild(index)
    return { address: child.address, sign: (text: string) => child.signMessageSync(text) }
  })
  const value = key.neuter().extendedKey
  return { entered: { family: 'evm', kind: 'xpub', value, startIndex: 0 }, accounts }
}
const op = () => ({ opId: randomUUID() })
const refusal = async (call: Promise<unknown>) =>
  await call.then(
    (answer) => JSON.stringify({ answer }),
    ({ code, message, cause }: { code: string; message: string; cause?: { details?: unknown } }) =>
      JSON.stringify({ code, message, details: cause?.details }),
  )
/** Answered with a reason per id instead of being refused as a whole. */
const ANSWERED = ['diagnostics.explain', 'exceptions.previewMany', 'exceptions.decideMany']
const nameless = (id: string) => (answer: unknown) => JSON.stringify(answer).replaceAll(id, '<id>')
const inbox = async ({ caller, at }: AdminCaller) => (await caller.exceptions.list({ ...at, limit: 100 })).items
const statusOf = async (id: string) => {
  const { deps } = world.engine()
  await advanceInvoice(deps, id)
  return (await deps.invoices.findById(id))?.state.status
}

// Guarantee: no payer is shown an address whose money goes to somebody else's inbox, whatever processes have in memory.
describe('after a proof no payer of the displaced workspace is shown the address', () => {
  const key = () => accountKey(20)
  it.each<
    [string, () => { theirs: Subject; ours: Subject; signers: Accounts; lost?: Accounts; goesOn: boolean | null }]
  >(
    sampleOf(
      [
        [
          'a pool by a pool',
          () => {
            const accounts = evmAccounts(4)
            return { theirs: pool(accounts), ours: pool(accounts), signers: accounts, goesOn: false }
          },
        ],
        [
          'all but one of a pool',
          () => {
            const accounts = evmAccounts(4)
            return { theirs: pool(accounts), ours: pool(accounts.slice(1)), signers: accounts.slice(1), goesOn: null }
          },
        ],
        [
          'a single address by the same',
          () => {
            const accounts = evmAccounts(1)
            return { theirs: single(accounts), ours: single(accounts), signers: accounts, goesOn: false }
          },
        ],
        [
          'a key by the same key',
          () => {
            const { entered, accounts } = key()
            return { theirs: entered, ours: entered, signers: accounts.slice(0, 1), lost: accounts, goesOn: false }
          },
        ],
        [
          'addresses of a key, which a process reserved, by a pool',
          () => {
            const { entered, accounts } = key()
            return { theirs: entered, ours: pool(accounts.slice(1, 12)), signers: accounts.slice(1, 12), goesOn: true }
          },
        ],
      ],
      3,
    ),
  )('%s', async (_name, scene) => {
    const { theirs, ours, signers, goesOn, lost = signers } = scene()
    await world.add(alice, theirs)
    // Fills this process's memory with candidates.
    const before = await world.invoice(alice)
    expect(before).not.toBeNull()
    await openBob()
    await world.add(bob, ours, signers)
    const taken = new Set(lost.map(({ address }) => address))
    const shown = [await world.invoice(alice), await world.invoice(alice)].flatMap((made) => made?.address ?? [])
    expect(shown.filter((address) => taken.has(address))).toEqual([])
    if (goesOn !== null) expect(shown.length > 0).toBe(goesOn)
  })
})

describe('an extended key that another workspace proves', () => {
  // Guarantee: promises stand, new money is the prover's, and neither side reads who the other is.
  it('keeps its open invoice, sends new money to the prover’s inbox, mails both owners and leaves a row on each side', async () => {
    const { entered, accounts } = accountKey(1)
    await world.add(alice, entered)
    const [paid, open] = [await world.invoice(alice), await world.invoice(alice)]
    if (paid === null || open === null) throw new Error('no address')
    await world.pay(paid.address, paid.due)
    expect(await statusOf(paid.id)).toBe('paid')
    await openBob()
    await world.add(bob, entered, accounts)
    const late = await world.pay(open.address, open.due)
    expect(late).toMatchObject({ invoiceId: null, workspaceId: null })
    expect([await statusOf(paid.id), await statusOf(open.id)]).toEqual(['paid', 'pending'])
    const stored = await world.engine().deps.invoices.findById(open.id)
    expect(stored?.state.paymentMethods[0]?.address).toBe(open.address)
    expect(await inbox(alice)).toEqual([])
    expect(await inbox(bob)).toMatchObject([{ kind: 'unmatched' }])
    const mails = await stores.db
      .collection(MAILS)
      .find({ template: /^address_/ })
      .toArray()
    expect(mails.map(({ to, template }) => `${template} ${to}`).sort()).toEqual([
      'address_displaced alice@example.com',
      'address_proved bob@example.com',
    ])
    const rows = await stores.db.collection(AUDIT_LOG).find({ action: 'wallet.displaced' }).toArray()
    expect(rows).toMatchObject([{ workspaceId: alice.workspaceId, mode: 'live', detail: { what: 'key' } }])
    for (const document of [...rows, ...mails.filter(({ to }) => to.startsWith('alice'))])
      for (const secret of [bob.workspaceId, 'bob@example.com']) expect(JSON.stringify(document)).not.toContain(secret)
  })
})

describe('money that waited in the inbox of the displaced workspace', () => {
  it('moves to the prover’s, who alone can attach it; what an invoice held stays, and what a person closed stays closed', async () => {
    const accounts = evmAccounts(3)
    await world.add(alice, pool(accounts))
    const addresses = accounts.map(({ address }) => address)
    const held = await world.invoice(alice)
    const free = addresses.filter((address) => address !== held?.address)
    const settled = await world.pay(held?.address ?? '', held?.due ?? 0n)
    expect(settled.invoiceId).toBe(held?.id)
    const waiting = await world.pay(free[0] ?? '', 10n ** 16n)
    await world.pay(free[1] ?? '', 10n ** 16n)
    const row = `unmatched:${waiting.key}:${alice.workspaceId}`
    const decided = (await inbox(alice)).find(({ id }) => id !== row)
    await alice.caller.exceptions.reject({ ...alice.at, ...op(), id: decided?.id ?? '', reason: 'not ours' })
    await openBob()
    const free2 = accounts.filter(({ address }) => free.includes(address))
    await world.add(bob, pool(free2), free2)

    expect(await inbox(alice)).toEqual([])
    const moved = await inbox(bob)
    expect(moved).toMatchObject([{ kind: 'unmatched', id: `unmatched:${waiting.key}:${bob.workspaceId}` }])
    const theirs = await world.invoice(bob)
    const attach = { id: moved[0]?.id ?? '', invoiceId: theirs?.id ?? '', reason: 'it is ours' }
    // The displaced workspace can decide it no more, neither by its row nor by the payment.
    const mine = { ...attach, invoiceId: held?.id ?? '', id: row }
    expect(await refusal(alice.caller.exceptions.attach({ ...alice.at, ...op(), ...mine }))).toContain(
      'closed automatically',
    )
    const direct = { paymentId: waiting.id, invoiceId: held?.id ?? '', reason: 'it is mine' }
    const unknown = { ...direct, paymentId: randomUUID() }
    const [foreign, none] = [direct, unknown].map((request) =>
      refusal(alice.caller.payments.attach({ ...alice.at, ...op(), ...request })),
    )
    expect(await foreign).toBe(await none)
    await bob.caller.exceptions.attach({ ...bob.at, ...op(), ...attach })
    expect((await world.engine().deps.payments.findByKeys([waiting.key]))[0]?.invoiceId).toBe(theirs?.id)
    // Its own old row stays readable and names nobody's invoice.
    const old = await alice.caller.exceptions.get({ ...alice.at, id: row })
    expect(old.payment).toMatchObject({ id: waiting.id, invoiceId: null })
    expect(JSON.stringify(old)).not.toContain(theirs?.id)
    expect((await world.engine().deps.payments.findByKeys([settled.key]))[0]?.invoiceId).toBe(held?.id)
  })
})

// Guarantee: whatever a tenant names of another's, the answer is that of what never was, and nothing changes.
it('every attempt at another tenant’s wallet, payment, invoice or inbox row reads as one at what never was', async () => {
  const accounts = evmAccounts(2)
  const { wallet } = await world.add(alice, pool(accounts))
  const held = await world.invoice(alice)
  const free = accounts.find(({ address }) => address !== held?.address)
  const payment = await world.pay(held?.address ?? '', held?.due ?? 0n)
  const waiting = await world.pay(free?.address ?? '', 10n ** 16n)
  const link = await alice.caller.paymentLinks.create({
    ...alice.at,
    ...op(),
    link: { title: 'Mug', currency: 'USD', amount: '9.50' },
  })
  await openBob()
  const ours = evmAccounts(1)
  await world.add(bob, pool(ours), ours)
  const own = await world.invoice(bob)
  const { caller, at } = bob
  const reason = 'it is ours'
  const proof = { nonce: 'ab'.repeat(16), signatures: [{ address: '', signature: '0x00' }] }
  const row = `unmatched:${waiting.key}:${alice.workspaceId}`
  const attempts: Readonly<Record<string, readonly [(id: string) => Promise<unknown>, ...targets: string[]]>> = {
    'wallets.challenge': [(walletId) => caller.wallets.challenge({ ...at, ...op(), about: { walletId } }), wallet.id],
    'wallets.prove': [(walletId) => caller.wallets.prove({ ...at, ...op(), walletId, proof }), wallet.id],
    'wallets.enable': [(walletId) => caller.wallets.enable({ ...at, ...op(), walletId }), wallet.id],
    'wallets.disable': [(walletId) => caller.wallets.disable({ ...at, ...op(), walletId }), wallet.id],
    'exceptions.get': [(id) => caller.exceptions.get({ ...at, id }), row],
    'exceptions.accept': [(id) => caller.exceptions.accept({ ...at, ...op(), id, reason }), row],
    'exceptions.attach': [
      (id) => caller.exceptions.attach({ ...at, ...op(), id, reason, invoiceId: own?.id ?? '' }),
      row,
    ],
    'exceptions.reject': [(id) => caller.exceptions.reject({ ...at, ...op(), id, reason }), row],
    'exceptions.close': [(id) => caller.exceptions.close({ ...at, ...op(), id }), row],
    'exceptions.previewMany': [(id) => caller.exceptions.previewMany({ ...at, ids: [id] }).then(nameless(id)), row],
    'exceptions.decideMany': [
      (id) =>
        caller.exceptions.decideMany({ ...at, ...op(), ids: [id], resolution: 'rejected', reason }).then(nameless(id)),
      row,
    ],
    'exceptions.note': [(id) => caller.exceptions.note({ ...at, ...op(), id, text: reason }), row],
    'payments.previewAttach': [
      (paymentId) => caller.payments.previewAttach({ ...at, paymentId, invoiceId: own?.id ?? '' }),
      ...[payment.id, waiting.id],
    ],
    'payments.attach': [
      (paymentId) => caller.payments.attach({ ...at, ...op(), paymentId, invoiceId: own?.id ?? '', reason }),
      ...[payment.id, waiting.id],
    ],
    'payments.count': [(paymentId) => caller.payments.count({ ...at, ...op(), paymentId, reason }), payment.id],
    'invoices.get': [(id) => caller.invoices.get({ ...at, id }), held?.id ?? ''],
    'invoices.cancel': [(id) => caller.invoices.cancel({ ...at, ...op(), id }), held?.id ?? ''],
    'invoices.timeline': [(id) => caller.invoices.timeline({ ...at, id }), held?.id ?? ''],
    'invoices.eraseCustomer': [(id) => caller.invoices.eraseCustomer({ ...at, ...op(), id, reason }), held?.id ?? ''],
    'invoices.openRefund': [
      (id) => caller.invoices.openRefund({ ...at, ...op(), id, amount: '0.001', asset: 'eth_ethereum' }),
      held?.id ?? '',
    ],
    'paymentLinks.get': [(id) => caller.paymentLinks.get({ ...at, id }), link.id],
    'paymentLinks.update': [
      (id) =>
        caller.paymentLinks.update({
          ...{ ...at, ...op(), id, version: Date.parse(link.updated_at) },
          link: { title: 'Free', amount: '0.01' },
        }),
      link.id,
    ],
    'paymentLinks.deactivate': [(id) => caller.paymentLinks.deactivate({ ...at, ...op(), id }), link.id],
    'chains.cancel': [() => caller.chains.cancel({ mode: 'live', network: 'ethereum', ...op() }), ''],
    'chains.costs': [() => caller.chains.costs(), ''],
    'chains.nodes': [() => caller.chains.nodes({ mode: 'live', network: 'ethereum' }), ''],
    'diagnostics.explain': [
      async (q) => ({ ...(await caller.diagnostics.explain({ ...at, q })), tookMs: 0 }),
      ...[payment.id, waiting.id],
    ],
  }
  const before = await world.state()
  for (const [name, [attempt, ...targets]] of Object.entries(attempts)) {
    const unknown = await refusal(attempt(randomUUID()))
    if (!ANSWERED.includes(name)) expect([name, unknown]).toEqual([name, expect.stringContaining('"code"')])
    for (const target of targets) expect([name, await refusal(attempt(target))]).toEqual([name, unknown])
  }
  for (const read of [
    caller.payments.list(at),
    caller.exceptions.list(at),
    caller.invoices.list(at),
    caller.wallets.list(at),
    caller.paymentLinks.list(at),
  ])
    for (const secret of [alice.workspaceId, payment.id, waiting.id, held?.id ?? '', link.id])
      expect(JSON.stringify(await read)).not.toContain(secret)
  expect(await world.state()).toBe(before)
})
