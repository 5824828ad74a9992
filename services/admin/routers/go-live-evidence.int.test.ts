import { randomUUID } from 'node:crypto'
import { HDNodeWallet } from 'ethers'
import { expect, it } from 'vitest'
import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { aPayment } from '#shared/domain/invoice/transition-story.fixture.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { startGoLivePayment } from '#shared/usecases/golive/state-go-live.ts'
import { bodyFingerprint } from '#shared/usecases/requests/idempotency-scope.ts'
import { adminCaller } from '#test/support/admin.ts'
import { sampleDelivery, sampleInvoice, samplePaymentMethod } from '#test/support/db-samples.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { ADDRESS_VECTORS } from '#test/vectors/addresses.ts'

const stores = useStores()
const HOUR_MS = 3_600_000
const ITEM = 'payment:ethereum'
const op = () => ({ opId: randomUUID() })
let accounts = 1_400

/** A workspace that rehearses in test mode, with two wallets on Ethereum, the second one newer. */
async function shop() {
  const made = await adminCaller(stores, { email: `${randomUUID()}@example.com` })
  const add = async () => {
    accounts += 1
    const value = HDNodeWallet.fromPhrase(ADDRESS_VECTORS.phrase, '', `m/44'/60'/${accounts}'`).neuter().extendedKey
    const entered = { family: 'evm' as const, kind: 'xpub' as const, value, startIndex: 0 }
    const { wallet } = await made.caller.wallets.add({ ...made.at, ...op(), ...entered, networks: ['ethereum'] })
    const stored = await made.deps.instance.wallets.findWallet(wallet.id)
    if (stored === null) throw new Error('no wallet')
    return stored
  }
  const [old, young] = [await add(), await add()]
  const startAt = (at: number) =>
    stores.db.collection(WALLETS).updateOne({ _id: young.id }, { $set: { effectiveAt: new Date(at) } })
  const { deps, at, workspaceId } = made
  const line = async (item = ITEM) => (await made.caller.goLive.read(at)).lines.find((one) => one.item === item)
  /** Stores that a self-payment was begun. */
  const store = async (evidence: string, ref: string) => {
    const now = deps.clock.now()
    const statement = { item: ITEM, at: now, by: 'x', evidence, holds: true, ref }
    const row = {
      id: `x:${randomUUID()}`,
      at: now,
      actor: 'x',
      action: 'golive.payment_started',
      subject: 'x',
    } as const
    const audit = { ...row, ...at, detail: {} }
    expect(await deps.goLive.record({ workspaceId, mode: 'test' }, statement, { audit })).toBe(true)
  }
  let invoices = 0
  /** An invoice that one payment paid, and whose event was delivered. */
  const paid = async (simulated: boolean, isDelivered: boolean) => {
    const now = deps.clock.now()
    const state = { status: 'paid' as const, paidAt: now, ledger: [row(simulated)] }
    invoices += 1
    const invoice = sampleInvoice(deps.random, { workspaceId, number: invoices, at: now, state })
    const { id } = invoice.terms
    expect(await deps.invoices.insert(invoice)).toEqual({ inserted: true })
    if (!isDelivered) return id
    const eventId = `evt_${randomUUID()}`
    const event = { id: eventId, workspaceId, mode: 'test', invoiceId: id, seq: 1, type: 'invoice.paid' } as const
    await deps.events.insertMany([{ ...event, body: Buffer.from('{}'), createdAt: now }])
    const about = { eventId, workspaceId, status: 'succeeded' as const, finishedAt: now, createdAt: now }
    await deps.deliveries.insertMany([sampleDelivery(`whd_${randomUUID()}`, about)])
    return id
  }
  return { ...made, old, young, startAt, line, store, paid }
}

// Guarantee: a payment to the old wallet proves nothing about the one that takes over later.
it('keeps a proof of the old wallet until the new one starts, and not after', async () => {
  const mine = await shop()
  const now = mine.deps.clock.now()
  await mine.startAt(now + HOUR_MS)
  const invoiceId = await mine.paid(false, true)
  await mine.store(mine.old.materialId, invoiceId)
  expect(await mine.line()).toMatchObject({ state: 'passed', steps: { delivered: true } })
  await mine.store(mine.young.materialId, invoiceId)
  expect(await mine.line()).toMatchObject({ state: 'out_of_date', reason: null, steps: null })
  await mine.store(mine.old.materialId, invoiceId)
  await mine.startAt(now - 1)
  expect((await mine.line())?.state).toBe('out_of_date')
})

it('proves the wallet of the invoice, also when a newer one started before the result was stored', async () => {
  const mine = await shop()
  const { deps, workspaceId, old, young } = mine
  const [address] = await deps.instance.wallets.addressesAt(old.materialId, [0])
  if (address === undefined) throw new Error('no address')
  // The process died after the invoice was stored; the person repeats the step.
  const opId = randomUUID()
  const description = 'Go-live test on ethereum'
  const asset = 'usdt_ethereum' as const
  const body = { amount: '5.00', currency: 'USD', asset, description, metadata: { paymesh_go_live: 'ethereum' } }
  expect(validate(invoiceCreateBody.test, body)).toMatchObject({ asset })
  const fingerprint = bodyFingerprint(Buffer.from(JSON.stringify(body), 'utf8'))
  const at = deps.clock.now()
  const paymentMethods = [samplePaymentMethod(address.matchKey, at)]
  const invoice = sampleInvoice(deps.random, { workspaceId, number: 1, at, state: { paymentMethods } })
  const idempotency = { key: `operator:${opId}`, fingerprint, requestId: 'req_1', at }
  expect(await deps.invoices.insert({ ...invoice, idempotency })).toEqual({ inserted: true })
  const action = { opId, actor: 'user:x', reason: null, requestId: 'req_2' }
  const scope = { workspaceId, mode: 'test' } as const
  const started = await startGoLivePayment(deps.preparing, scope, { ...action, asset, amount: '5.00' })
  expect(started.invoiceId).toBe(invoice.terms.id)
  const [stored] = await deps.goLive.list(scope)
  expect(stored).toMatchObject({ item: ITEM, evidence: old.materialId })
  expect(stored?.evidence).not.toBe(young.materialId)
  expect((await mine.line())?.state).toBe('out_of_date')
})

// Guarantee: nobody begins an invoice in a workspace that was stopped, not even the person at the machine, whom no procedure stops.
it.each([
  ['suspended', 'WORKSPACE_SUSPENDED'],
  ['restricted', 'WORKSPACE_RESTRICTED'],
] as const)('starts no payment in a workspace that is %s, and stores nothing', async (status, code) => {
  const { deps, workspaceId } = await shop()
  const scope = { workspaceId, mode: 'test' } as const
  const action = { opId: randomUUID(), actor: 'cli:root', reason: null, requestId: 'req_1' }
  const entered = { ...action, asset: 'usdt_ethereum', amount: '5.00' } as const
  await deps.instance.workspaces.update(workspaceId, { status })
  await expect(startGoLivePayment(deps.preparing, scope, entered)).rejects.toMatchObject({ code })
  expect(await stores.db.collection(INVOICES).countDocuments({ workspaceId })).toBe(0)
  expect(await deps.goLive.list(scope)).toEqual([])
  const audit = stores.db.collection(AUDIT_LOG)
  expect(await audit.countDocuments({ workspaceId, action: 'golive.payment_started' })).toBe(0)
})

const row = (simulated: boolean) => {
  const { payment, version, amountBase, firstSeenAt } = aPayment()
  const flags = { counted: true, late: false, eligible: true, detected: true, confirmed: true, lateAnnounced: false }
  const empty = { uncountedReason: null, acceptedBase: null, rateSeen: null }
  const name = `${payment}:${randomUUID()}`
  return { payment: name, version, state: 'confirmed' as const, amountBase, firstSeenAt, simulated, ...flags, ...empty }
}
// Guarantee: a payment that nobody sent proves neither a wallet nor a node.
it.each(
  sampleOf(
    [
      [true, { state: 'failed', reason: 'invoice_ended', steps: { seen: false, paid: false } }],
      [false, { state: 'open', reason: 'delivery_waits', steps: { seen: true, paid: true } }],
    ],
    1,
  ),
)('an invoice that is paid with simulated = %s', async (simulated, expected) => {
  const mine = await shop()
  await mine.store(mine.young.materialId, await mine.paid(simulated, false))
  expect(await mine.line()).toMatchObject(expected)
})

// Guarantee: a receiver that has the old secret only does not pass by what it accepted before.
it('counts no delivery from before the secret was rotated', async () => {
  const mine = await shop()
  const { deps, workspaceId } = mine
  const created = deps.clock.now() - HOUR_MS
  const secret = deps.secretBox.seal('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `endpoint:${randomUUID()}`)
  const id = randomUUID()
  const endpoint = { id, workspaceId, url: 'https://shop.example/hook', events: ['*' as const], mode: 'test' as const }
  const times = { createdAt: created, updatedAt: created }
  const rest = {
    description: null,
    status: 'enabled' as const,
    sealedSecrets: [secret],
    formerSecrets: [],
    inFlightMax: null,
    opId: null,
  }
  await deps.endpoints.insert({ ...endpoint, ...times, ...rest })
  const deliver = (status: Delivery['status'], finishedAt: number) => {
    const about = { endpointId: id, workspaceId, status, finishedAt, createdAt: finishedAt, attempt: 1 }
    return deps.deliveries.insertMany([sampleDelivery(`whd_${randomUUID()}`, about)])
  }
  await deliver('succeeded', created + 1)
  expect(await mine.line('webhook')).toMatchObject({ state: 'passed' })
  await mine.caller.endpoints.rotate({ ...mine.at, ...op(), endpointId: id })
  expect(await mine.line('webhook')).toMatchObject({ state: 'failed', reason: 'webhook_untested' })
  const rotated = (await deps.endpoints.findById(id))?.updatedAt ?? 0
  await deliver('failed', rotated + 1)
  expect(await mine.line('webhook')).toMatchObject({ state: 'failed', reason: 'webhook_failing' })
  await deliver('succeeded', rotated + 2)
  expect(await mine.line('webhook')).toMatchObject({ state: 'passed' })
})
