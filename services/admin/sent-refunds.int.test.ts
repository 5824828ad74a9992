import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AdminDeps } from '#services/admin/assemble.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const SCOPE = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const USDT = 1_000_000n
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const hash = () => randomBytes(32).toString('hex')

const stores = useStores()
let engine: Engine
let luis: AdminCaller
let height = 100
beforeAll(async () => {
  engine = await openEngine(stores)
  const { clock } = engine.deps
  const deps = ({ money }: AdminDeps) => ({ money: { ...money, clock } })
  luis = await adminCaller(stores, { role: 'support', workspaceId: engine.workspace.id, deps })
})

async function relay(): Promise<void> {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
}

/** An invoice of 25 USDT. */
async function opened() {
  await engine.publishRates()
  await engine.watchEverything()
  const { terms, state } = await engine.open({ asset: 'usdt_ethereum' })
  const method = paymentMethodOf({ terms, state, lastOps: [], outbox: [], refundSeq: 0 })
  const pay = async (
    amountBase: bigint,
    { tx = hash(), asset = 'usdt_ethereum' as AssetId, confirmed = true } = {},
  ) => {
    height += 20
    const key = `test:ethereum:0x${tx}:${randomUUID()}`
    const block = blockWith(height, engine.deps.clock.now(), method, [{ key, amountBase, asset }])
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    if (confirmed) await confirm()
    await advanceInvoice(engine.deps, terms.id)
    await relay()
    return key
  }
  return { id: terms.id, method, pay }
}

async function confirm(): Promise<void> {
  await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
}

/** Lets an invoice end, with everything read. */
async function end(id: string): Promise<void> {
  engine.advance(3 * 3_600_000)
  height += 20
  await engine.setCursor(height, engine.deps.clock.now())
  await advanceInvoice(engine.deps, id)
  await relay()
}

const prepare = async (id: string, amount: string, more: { asset?: AssetId; address?: string } = {}) =>
  await luis.caller.invoices.openRefund({ ...luis.at, opId: randomUUID(), id, amount, asset: null, ...more })
const record = async (refundId: string, txHash = hash()) => {
  const sent = await luis.caller.invoices.recordRefund({ ...luis.at, opId: randomUUID(), refundId, txHash })
  await relay()
  return sent
}
const inbox = async (id: string) => {
  const found = await stores.db.collection(EXCEPTIONS).find({ invoiceId: id }).toArray()
  return found
    .map(({ kind, open, resolved }) => `${kind}${open ? '' : ' closed'}${resolved ? ' by a person' : ''}`)
    .sort()
}

describe('an exception about money that was refunded', () => {
  // Guarantee: what went back leaves the list of what a person has to decide, without a second click, and no earlier.
  it('closes when the refund is recorded as sent, and not while it is prepared', async () => {
    const { id, pay } = await opened()
    await pay(12n * USDT)
    await end(id)
    await pay(5n * USDT, { asset: 'usdc_ethereum' })
    expect(await inbox(id)).toEqual(['partial', 'wrong_asset'])
    const [first, second] = [await prepare(id, '12'), await prepare(id, '5', { asset: 'usdc_ethereum' })]
    expect(await inbox(id)).toEqual(['partial', 'wrong_asset'])
    await record(first.id)
    expect(await inbox(id)).toEqual(['partial closed', 'wrong_asset'])
    await record(second.id)
    expect(await inbox(id)).toEqual(['partial closed', 'wrong_asset closed'])
  })

  it('closes after a crash between the record and the invoice, when the record is sent again or money moves', async () => {
    const { id, pay } = await opened()
    await pay(30n * USDT)
    expect(await inbox(id)).toEqual(['over'])
    const refund = await prepare(id, '5')
    const txHash = hash()
    const sent = { txHash: `0x${txHash}`, at: engine.deps.clock.now(), by: 'user:olivia@example.com', market: null }
    const audit = { id: randomUUID(), at: sent.at, actor: sent.by, action: 'refund.sent', subject: id } as const
    const of = { workspaceId: engine.workspace.id, mode: 'test', detail: {} } as const
    await engine.deps.refunds.noteSent(refund.id, sent, { ...audit, ...of })
    await relay()
    expect(await inbox(id)).toEqual(['over'])
    await record(refund.id, txHash)
    expect(await inbox(id)).toEqual(['over closed'])
  })

  it('that a person rejected before stays as that person left it', async () => {
    const { id, pay } = await opened()
    await pay(12n * USDT)
    await end(id)
    await luis.caller.exceptions.reject({ ...luis.at, opId: randomUUID(), id: `partial:${id}`, reason: 'Sent back.' })
    await record((await prepare(id, '12')).id)
    expect(await inbox(id)).toEqual(['partial closed by a person'])
  })
})

describe('the transaction of a refund', () => {
  const refused = {
    cause: {
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/^This transaction paid one of your invoices\./),
    },
  }

  // Guards money: a refund that was never sent must not be in the books because somebody copied the wrong line.
  it('is not a payment of its invoice, nor of another one of the workspace, however it is spelled', async () => {
    const [one, other] = [await opened(), await opened()]
    const [tx, otherTx] = [hash(), hash()]
    await one.pay(25n * USDT, { tx })
    await other.pay(25n * USDT, { tx: otherTx })
    const refunds = [await prepare(one.id, '10'), await prepare(one.id, '10', { address: ADDRESS })]
    for (const { id } of refunds)
      for (const text of [tx, `0x${tx.toUpperCase()}`, ` 0x${otherTx} `])
        await expect(record(id, text)).rejects.toMatchObject(refused)
    expect(await record(refunds[0]?.id ?? '')).toMatchObject({ status: 'sent' })
  })

  it('may be a payment of another invoice to the address that the customer gave, and one of another workspace', async () => {
    const [one, other] = [await opened(), await opened()]
    await one.pay(25n * USDT)
    const tx = hash()
    await other.pay(10n * USDT, { tx })
    const refund = await prepare(one.id, '10', { address: other.method.address })
    expect(await record(refund.id, tx)).toMatchObject({ status: 'sent', txHash: `0x${tx}` })
    // Nobody learns from a refusal what other shops received.
    const shop = await openEngine(stores)
    const theirs = await shop.open({ asset: 'usdt_ethereum' })
    const theirTx = hash()
    const key = `test:ethereum:0x${theirTx}:1`
    height += 20
    const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(theirs), [{ key, amountBase: USDT }])
    await recordBlockTransfers(shop.deps, { ...SCOPE, blocks: [block] })
    expect(await record((await prepare(one.id, '1')).id, theirTx)).toMatchObject({ status: 'sent' })
  })

  it('that was recorded is the answer to a repetition, whatever was received since', async () => {
    const { id, pay } = await opened()
    await pay(25n * USDT)
    const [refund, tx] = [await prepare(id, '10'), hash()]
    await record(refund.id, tx)
    await pay(3n * USDT, { tx })
    expect(await record(refund.id, tx)).toMatchObject({ status: 'sent', txHash: `0x${tx}` })
  })
})

// Guards money: the customer's second payment was there, unconfirmed, when a part of the order was refunded; it is theirs whole.
it('money that was confirmed after a refund is suggested whole, also when it was seen before', async () => {
  const { id, pay } = await opened()
  await pay(25n * USDT)
  await pay(7n * USDT, { confirmed: false })
  engine.advance(1_000)
  await record((await prepare(id, '10')).id)
  engine.advance(1_000)
  await confirm()
  await advanceInvoice(engine.deps, id)
  expect((await luis.caller.invoices.get({ ...luis.at, id })).refundSuggestion).toBe('7')
})

// Guarantee: dust that went back keeps no payer waiting who pays the price, although folds no longer read it.
it('a refund of dust takes nothing of the price', async () => {
  const { id, pay } = await opened()
  await pay(USDT / 100n)
  await record((await prepare(id, '0.01')).id)
  await pay(25n * USDT)
  expect((await luis.caller.invoices.get({ ...luis.at, id })).status).toBe('paid')
})
