import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { requestedBase } from '#shared/domain/invoice/totals.ts'
import { parseUnits } from '#shared/domain/money/money.ts'
import { explainInvoice } from '#shared/usecases/diagnostics/explain-invoice.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const SCOPE = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const USDT = 1_000_000n
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'

const stores = useStores()
let engine: Engine
let luis: AdminCaller
let height = 100
beforeAll(async () => {
  engine = await openEngine(stores)
  luis = await person()
})

const person = async (options: Parameters<typeof adminCaller>[1] = {}): Promise<AdminCaller> =>
  await adminCaller(stores, { role: 'support', workspaceId: engine.workspace.id, ...options })

type Transfer = { readonly amountBase: bigint; readonly asset?: AssetId }

/** An invoice of 25 USDT that received these transfers; they are confirmed unless `confirmed` is false. */
async function received(transfers: readonly Transfer[], { confirmed = true } = {}) {
  await engine.publishRates()
  await engine.watchEverything()
  const opened = await engine.open({ asset: 'usdt_ethereum' })
  const { id } = opened.terms
  height += 20
  const seen = transfers.map((transfer) => ({ key: `k${randomUUID()}`, ...transfer }))
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(opened), seen)
  if (seen.length > 0) await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
  if (confirmed) await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
  await advanceInvoice(engine.deps, id)
  return { id, height, keys: seen.map(({ key }) => key) }
}

/** Makes an invoice with its money one of live mode: the engine has a chain in test mode only. */
async function toLive(invoiceId: string): Promise<void> {
  const live = { $set: { mode: 'live' as const } }
  await stores.db.collection(INVOICES).updateOne({ _id: invoiceId }, { $set: { mode: 'live', number: height } })
  await stores.db.collection(PAYMENTS).updateMany({ invoiceId }, live)
}

async function orphan(forkHeight: number): Promise<void> {
  await engine.deps.payments.orphanAbove({ ...SCOPE, forkHeight, at: engine.deps.clock.now() })
}

async function relay(): Promise<void> {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
}

const request = (
  { caller, at }: AdminCaller,
  id: string,
  amount: string,
  more: { readonly asset?: AssetId; readonly opId?: string; readonly reason?: string; readonly mode?: 'live' } = {},
) => caller.invoices.openRefund({ ...at, opId: randomUUID(), id, amount, asset: null, ...more })

const refusal = (pattern: RegExp) => ({
  code: 'CONFLICT',
  cause: { code: 'INVALID_STATE', message: expect.stringMatching(pattern) },
})
const forbidden = (path: string) => ({ code: 'FORBIDDEN', cause: { details: [{ path, message: 'needed' }] } })
const rowsOf = async (invoiceId: string) => await stores.db.collection(REFUNDS).find({ invoiceId }).toArray()
const claimedOf = async (invoiceId: string) =>
  (await rowsOf(invoiceId))
    .filter(({ status }) => status !== 'withdrawn')
    .reduce((sum, { amountBase }) => sum + BigInt(amountBase), 0n)
const flagged = async (id: string) =>
  (await engine.deps.invoices.findById(id))?.state.exceptions.some(({ exception }) => exception === 'refund_uncovered')

describe('a refund is a claim on money that was received', () => {
  // Guards money: naming the coin is no way around the check that the invoice received something.
  it('is refused on an invoice that received nothing, whether or not the coin is named', async () => {
    const { id } = await received([])
    const named = { asset: 'usdt_ethereum' as const, address: ADDRESS }
    await expect(
      luis.caller.invoices.openRefund({ ...luis.at, opId: randomUUID(), id, amount: '999999', ...named }),
    ).rejects.toMatchObject(refusal(/nothing to refund/i))
    await expect(request(luis, id, '25')).rejects.toMatchObject(refusal(/nothing to refund/i))
    expect(await rowsOf(id)).toEqual([])
    expect((await luis.caller.invoices.get({ ...luis.at, id })).may.refund).toMatch(/nothing to refund/i)
  })

  it('is refused for money that is not confirmed', async () => {
    const { id } = await received([{ amountBase: 25n * USDT }], { confirmed: false })
    await expect(request(luis, id, '1')).rejects.toMatchObject(refusal(/nothing to refund/i))
    expect((await luis.caller.invoices.get({ ...luis.at, id })).may.refund).toMatch(/nothing to refund/i)
  })

  it('is refused above what is left, and the refusal says how much that is', async () => {
    const { id } = await received([{ amountBase: 25n * USDT }])
    await expect(request(luis, id, '25.000001')).rejects.toMatchObject(refusal(/25 USDT/))
    await request(luis, id, '10')
    await expect(request(luis, id, '15.000001')).rejects.toMatchObject(refusal(/15 USDT/))
    const known = await luis.caller.invoices.get({ ...luis.at, id })
    expect(known.refundable).toMatchObject([{ asset: 'usdt_ethereum', symbol: 'USDT', amount: '15' }])
    await request(luis, id, '15')
    expect(await claimedOf(id)).toBe(25n * USDT)
    expect((await luis.caller.invoices.get({ ...luis.at, id })).may.refund).toMatch(/nothing to refund/i)
  })

  // Guards money: whoever works off the open refunds must not pay the customer five times.
  it('of the whole amount is opened once when five people ask at once', async () => {
    const { id } = await received([{ amountBase: 25n * USDT }])
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => request(luis, id, '25')))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject(refusal(/nothing to refund/i))
    expect(await claimedOf(id)).toBe(25n * USDT)
  })

  it('never exceeds the money together with ninety-nine others at once, and some of it is refunded', async () => {
    const { id } = await received([{ amountBase: 20n * USDT }, { amountBase: 5n * USDT }])
    const amounts = Array.from(
      { length: 100 },
      (_, place) => `${(place * 7) % 3}.${String(1 + ((place * 7919) % 999999))}`,
    )
    const results = await Promise.allSettled(amounts.map((amount) => request(luis, id, amount)))
    const opened = amounts.filter((_, place) => results[place]?.status === 'fulfilled')
    const sum = opened.reduce((total, amount) => total + parseUnits(amount, 6), 0n)
    expect(await claimedOf(id)).toBe(sum)
    expect(sum).toBeGreaterThan(0n)
    expect(sum).toBeLessThanOrEqual(25n * USDT)
    for (const [place, result] of results.entries()) {
      if (result.status === 'fulfilled') continue
      expect(result.reason, amounts[place]).toMatchObject({ cause: { code: 'INVALID_STATE' } })
    }
  })

  it('that is withdrawn frees its money', async () => {
    const { id } = await received([{ amountBase: 25n * USDT }])
    const first = await request(luis, id, '25')
    await expect(request(luis, id, '1')).rejects.toMatchObject(refusal(/nothing to refund/i))
    await luis.caller.invoices.withdrawRefund({ ...luis.at, opId: randomUUID(), refundId: first.id })
    const second = await request(luis, id, '25')
    const txHash = `0x${'ab'.repeat(32)}`
    await luis.caller.invoices.recordRefund({ ...luis.at, opId: randomUUID(), refundId: second.id, txHash })
    await expect(request(luis, id, '1')).rejects.toMatchObject(refusal(/nothing to refund/i))
  })

  it('may be of a coin that does not count for the invoice, up to what came in that coin', async () => {
    const { id } = await received([{ amountBase: 30n * USDT, asset: 'usdc_ethereum' }])
    const asset = 'usdc_ethereum' as const
    expect((await luis.caller.invoices.get({ ...luis.at, id })).refundable).toMatchObject([{ asset, amount: '30' }])
    await expect(request(luis, id, '1')).rejects.toMatchObject(refusal(/nothing to refund/i))
    await expect(request(luis, id, '30.1', { asset })).rejects.toMatchObject(refusal(/30 USDC/))
    expect(await request(luis, id, '30', { asset })).toMatchObject({ amount: '30', symbol: 'USDC' })
  })

  it('is the same one when the request is sent again, also once nothing is left', async () => {
    const { id } = await received([{ amountBase: 25n * USDT }])
    const opId = randomUUID()
    const [first, same] = await Promise.all([request(luis, id, '25', { opId }), request(luis, id, '25', { opId })])
    expect(same).toEqual(first)
    expect(await request(luis, id, '25', { opId })).toEqual(first)
    expect(await rowsOf(id)).toHaveLength(1)
  })

  it('changes nothing that a merchant sees: neither the invoice’s version nor its time, and no event', async () => {
    const { id } = await received([{ amountBase: 25n * USDT }])
    await relay()
    const before = await engine.deps.invoices.findById(id)
    const events = await engine.deps.events.listByInvoice(id)
    await request(luis, id, '25')
    await relay()
    const after = await engine.deps.invoices.findById(id)
    expect(after?.state).toEqual(before?.state)
    expect([before?.refundSeq, after?.refundSeq]).toEqual([0, 1])
    expect(await engine.deps.events.listByInvoice(id)).toEqual(events)
  })
})

describe('money that a reorganisation takes back', () => {
  // Guards money: a payer whose transfer left the chain must not be paid for it.
  it('cannot be refunded', async () => {
    const { id, height: at } = await received([{ amountBase: 25n * USDT }])
    await orphan(at - 1)
    await expect(request(luis, id, '1')).rejects.toMatchObject(refusal(/nothing to refund/i))
    await advanceInvoice(engine.deps, id)
    await expect(request(luis, id, '1')).rejects.toMatchObject(refusal(/nothing to refund/i))
  })

  it('leaves an exception about refunds that it no longer covers, until one is withdrawn', async () => {
    const { id, height: at } = await received([{ amountBase: 25n * USDT }])
    const refund = await request(luis, id, '25')
    expect(await flagged(id)).toBe(false)
    await orphan(at - 1)
    await advanceInvoice(engine.deps, id)
    await relay()
    const exceptionId = `refund_uncovered:${id}`
    expect(await stores.db.collection(EXCEPTIONS).findOne({ _id: exceptionId })).toMatchObject({ closedAt: null })
    const known = await luis.caller.invoices.get({ ...luis.at, id })
    expect(known.exceptions.map(({ kind }) => kind)).toContain('refund_uncovered')
    await luis.caller.invoices.withdrawRefund({ ...luis.at, opId: randomUUID(), refundId: refund.id })
    await relay()
    expect(await flagged(id)).toBe(false)
    expect((await stores.db.collection(EXCEPTIONS).findOne({ _id: exceptionId }))?.closedAt).not.toBeNull()
  })

  it('closes the exception when it returns, and reports it for a refund that was sent', async () => {
    const paid = await received([{ amountBase: 25n * USDT }])
    const refund = await request(luis, paid.id, '25')
    const txHash = `0x${'cd'.repeat(32)}`
    await luis.caller.invoices.recordRefund({ ...luis.at, opId: randomUUID(), refundId: refund.id, txHash })
    await orphan(paid.height - 1)
    await advanceInvoice(engine.deps, paid.id)
    expect(await flagged(paid.id)).toBe(true)
    const invoice = await engine.deps.invoices.findById(paid.id)
    if (invoice === null) throw new Error('the invoice is gone')
    height += 20
    const key = paid.keys[0] ?? ''
    const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(invoice), [
      { key, amountBase: 25n * USDT },
    ])
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    await advanceInvoice(engine.deps, paid.id)
    expect(await flagged(paid.id)).toBe(true)
    await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
    await advanceInvoice(engine.deps, paid.id)
    expect(await flagged(paid.id)).toBe(false)
  })

  // Guards operators: one refund that a reorganisation took the money from must not close the lists of the whole workspace.
  it('from a part of a price that was refunded breaks no page', async () => {
    const { id, height: first } = await received([{ amountBase: 12n * USDT }])
    const opened = (await engine.deps.invoices.findById(id)) ?? expect.fail('no invoice')
    const block = blockWith(first + 10, engine.deps.clock.now(), paymentMethodOf(opened), [
      { key: `k${randomUUID()}`, amountBase: 10n * USDT },
    ])
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    await confirmPayments(engine.deps, { ...SCOPE, height: first + 19, finalizedHeight: null })
    await request(luis, id, '22')
    await orphan(first + 5)
    await advanceInvoice(engine.deps, id)
    await relay()
    const pages = async () => {
      const { items } = await luis.caller.invoices.list({ ...luis.at })
      const { items: open } = await luis.caller.exceptions.list({ ...luis.at, limit: 100 })
      const { decisions } = await luis.caller.exceptions.previewMany({ ...luis.at, ids: [`partial:${id}`] })
      const amounts = decisions.flatMap(({ sums }) => sums.map(({ amount }) => amount))
      const sentences = open.filter(({ invoice }) => invoice?.number === opened.terms.number).map((one) => one.sentence)
      expect(await viewInvoice(engine.deps, id)).toMatchObject({ received: '12.00' })
      const { coins } = await luis.caller.invoices.get({ ...luis.at, id })
      const { whatNow } = items.find((one) => one.id === id) ?? {}
      return { sentences, amounts, whatNow, sums: [coins?.received, coins?.seen, coins?.confirmed] }
    }
    const reversed = expect.stringMatching(/^The network reversed a payment after a refund of it was prepared\./)
    expect(await pages()).toEqual({
      ...{ sentences: [reversed], amounts: [], sums: ['12', '0', '0'] },
      whatNow: expect.stringMatching(/^wait for 35 USDT more/),
    })
    engine.advance(3 * 3_600_000)
    await engine.setCursor(first + 30, engine.deps.clock.now())
    await advanceInvoice(engine.deps, id)
    await relay()
    const short = `Invoice #${opened.terms.number} expired with 0 of 25 USDT paid (25 short). It cannot be accepted while refunds take part of what came.`
    expect(await pages()).toEqual({
      ...{ sentences: expect.arrayContaining([reversed, short]), amounts: ['0'], sums: ['12', '0', '0'] },
      whatNow: 'decide on 12 of 25 USDT received',
    })
    expect((await explainInvoice(engine.deps, id)).conclusion).toMatch(
      /^Partly paid: 12 of 25 USDT received, and refunds take 22 USDT of it, 35 USDT to go\./,
    )
  })

  // Guarantee: whichever of the two is first, either the refund is refused or a person hears of it.
  it('at the moment at which a refund is opened is noticed by one of the two', async () => {
    const { id, height: at } = await received([{ amountBase: 25n * USDT }])
    // The fold has read the invoice without the refund when the refund is stored.
    let isFirst = true
    const interleaved = {
      ...engine.deps,
      payments: {
        ...engine.deps.payments,
        listForFold: async (...args: Parameters<typeof engine.deps.payments.listForFold>) => {
          if (isFirst) {
            isFirst = false
            await request(luis, id, '25')
            await orphan(at - 1)
          }
          return await engine.deps.payments.listForFold(...args)
        },
      },
    }
    await advanceInvoice(interleaved, id)
    expect([isFirst, await flagged(id)]).toEqual([false, true])
  })

  it('in many races with refunds leaves none that is neither refused nor reported', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { id, height: at } = await received([{ amountBase: 25n * USDT }])
      const requests = Array.from({ length: 6 }, () => request(luis, id, '5'))
      const reorganised = orphan(at - 1).then(() => advanceInvoice(engine.deps, id))
      await Promise.allSettled([...requests, reorganised])
      await advanceInvoice(engine.deps, id)
      expect(await flagged(id)).toBe((await claimedOf(id)) > 0n)
    }
  })
})

describe('money that a refund claims', () => {
  // Guards money: a payer who asks one person for the money back and another one for the goods gets one of them.
  it('does not settle the invoice by a decision, until the refund is withdrawn', async () => {
    const paid = await received([{ amountBase: 26n * USDT, asset: 'usdc_ethereum' }])
    const asset = 'usdc_ethereum' as const
    const refund = await request(luis, paid.id, '26', { asset })
    const [payment] = await engine.deps.payments.findByKeys(paid.keys)
    const attach = () =>
      luis.caller.payments.attach({
        ...luis.at,
        ...{ opId: randomUUID(), paymentId: payment?.id ?? '', invoiceId: paid.id },
        ...{ valueBase: String(25n * USDT), reason: 'The customer wants the goods.' },
      })
    await expect(attach()).rejects.toMatchObject(refusal(/Withdraw a refund/))
    expect((await engine.deps.invoices.findById(paid.id))?.state.status).toBe('pending')
    await luis.caller.invoices.withdrawRefund({ ...luis.at, opId: randomUUID(), refundId: refund.id })
    expect((await attach()).status).toBe('paid')
  })

  // Guards money: half paid, half refunded and the other half paid is half of the price.
  it('does not pay the invoice together with what is paid later; the page asks for the whole price again', async () => {
    const { id, height: first } = await received([{ amountBase: 12n * USDT }])
    const refund = await request(luis, id, '12')
    const opened = await engine.deps.invoices.findById(id)
    expect(opened && requestedBase(opened.state, engine.deps.clock.now())).toBe(25n * USDT)
    const pay = async (amountBase: bigint, at: number) => {
      const invoice = opened ?? expect.fail('no invoice')
      const block = blockWith(at, engine.deps.clock.now(), paymentMethodOf(invoice), [{ key: `k${at}`, amountBase }])
      await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
      await confirmPayments(engine.deps, { ...SCOPE, height: at + 9, finalizedHeight: null })
      await advanceInvoice(engine.deps, id)
      return (await engine.deps.invoices.findById(id))?.state.status
    }
    expect(await pay(13n * USDT, first + 1)).toBe('partial')
    await engine.setCursor(first + 10, engine.deps.clock.now())
    expect((await explainInvoice(engine.deps, id)).conclusion).toBe(
      'Partly paid: 25 of 25 USDT received, and refunds take 12 USDT of it, 12 USDT to go.',
    )
    expect(await pay(12n * USDT, first + 2)).toBe('paid')
    await luis.caller.invoices.withdrawRefund({ ...luis.at, opId: randomUUID(), refundId: refund.id })
    expect((await engine.deps.invoices.findById(id))?.state.status).toBe('overpaid')
  })

  it('is not part of what is above the price when many invoices are refunded at once', async () => {
    const { id, height: first } = await received([{ amountBase: 12n * USDT }])
    await request(luis, id, '12')
    const opened = (await engine.deps.invoices.findById(id)) ?? expect.fail('no invoice')
    const block = blockWith(first + 1, engine.deps.clock.now(), paymentMethodOf(opened), [
      { key: `k${first + 1}`, amountBase: 26n * USDT },
    ])
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    await confirmPayments(engine.deps, { ...SCOPE, height: first + 10, finalizedHeight: null })
    await advanceInvoice(engine.deps, id)
    await relay()
    const { decisions } = await luis.caller.exceptions.previewMany({ ...luis.at, ids: [`over:${id}`] })
    expect(JSON.stringify(decisions)).toContain('"amount":"1"')
    expect(JSON.stringify(decisions)).not.toContain('"amount":"13"')
  })

  // Guards money: an operator who reads that 5 are above the price after they were refunded would refund 5 of the order.
  it('is named as above the price nowhere once it went back', async () => {
    const { id } = await received([{ amountBase: 30n * USDT }])
    await relay()
    const shown = async () => {
      const { items } = await luis.caller.invoices.list({ ...luis.at, status: 'overpaid' })
      const { decisions } = await luis.caller.exceptions.previewMany({ ...luis.at, ids: [`over:${id}`] })
      const amounts = new Set(decisions.flatMap(({ sums }) => sums.map(({ amount }) => amount)))
      return [items.find((row) => row.id === id)?.whatNow, [...amounts]]
    }
    expect(await shown()).toEqual(['refund or keep 5 USDT', ['5']])
    await request(luis, id, '2')
    expect(await shown()).toEqual(['refund or keep 3 USDT', ['3']])
    await request(luis, id, '3')
    expect(await shown()).toEqual(['none: nothing above the price is left', ['0']])
  })

  it('is noticed after a crash between the refund and the invoice: no later payment is decided without it', async () => {
    const { id, height: first } = await received([{ amountBase: 12n * USDT }])
    const opened = (await engine.deps.invoices.findById(id)) ?? expect.fail('no invoice')
    await request(luis, id, '12')
    // As the process left it that died before the invoice was written.
    await stores.db.collection(INVOICES).updateOne({ _id: id }, { $unset: { claimedBase: '' } })
    const block = blockWith(first + 1, engine.deps.clock.now(), paymentMethodOf(opened), [
      { key: `k${first + 1}`, amountBase: 13n * USDT },
    ])
    await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
    await confirmPayments(engine.deps, { ...SCOPE, height: first + 10, finalizedHeight: null })
    await advanceInvoice(engine.deps, id)
    expect((await engine.deps.invoices.findById(id))?.state.status).toBe('partial')
  })

  it('does not count towards the amount due when a shortfall is accepted', async () => {
    const { id } = await received([{ amountBase: 20n * USDT }])
    engine.advance(3 * 3_600_000)
    await engine.setCursor(height + 9, engine.deps.clock.now())
    await advanceInvoice(engine.deps, id)
    await relay()
    const refund = await request(luis, id, '20')
    const accept = () =>
      luis.caller.exceptions.accept({ ...luis.at, opId: randomUUID(), id: `partial:${id}`, reason: 'A good customer.' })
    await expect(accept()).rejects.toMatchObject(refusal(/Withdraw a refund/))
    await luis.caller.invoices.withdrawRefund({ ...luis.at, opId: randomUUID(), refundId: refund.id })
    await accept()
    expect((await engine.deps.invoices.findById(id))?.state.status).toBe('paid')
  })
})

describe('a refund above the workspace’s threshold', () => {
  const notices = async () => await stores.db.collection(MAILS).find({ template: 'owner_notice' }).toArray()
  const reason = 'Order cancelled, agreed with the customer.'
  const live = { mode: 'live' as const }

  // Guarantee: a stolen session cannot send the shop's treasurer on a large errand without a code and without a mail to every owner.
  it('needs a code and a reason, and every owner gets one mail about it', async () => {
    const { id } = await received([{ amountBase: 500n * USDT }])
    await toLive(id)
    const stale = await person({ steppedUp: false })
    await expect(request(stale, id, '300', { ...live, reason })).rejects.toMatchObject(forbidden('stepUp'))
    const bare = await person({ secondFactor: 'none', steppedUp: false })
    await expect(request(bare, id, '300', { ...live, reason })).rejects.toMatchObject(forbidden('secondFactor'))
    await expect(request(luis, id, '300', live)).rejects.toMatchObject({
      cause: { code: 'VALIDATION_ERROR', details: [{ path: 'reason', message: 'enter a reason' }] },
    })
    expect([await rowsOf(id), await notices()]).toEqual([[], []])

    const opId = randomUUID()
    const first = await request(luis, id, '300', { ...live, reason, opId })
    expect(await request(luis, id, '300', { ...live, reason, opId })).toEqual(first)
    const [mail, ...others] = await notices()
    expect([mail?.to, others]).toEqual(['owner@example.com', []])
    const { text } = renderMail({ template: 'owner_notice', data: mail?.data ?? {} })
    for (const part of ['300 USDT', 'olivia@example.com', '127.0.0.1', reason]) expect(text).toContain(part)
  })

  it('is one of all the invoice’s refunds together, so that many small ones are no way around it', async () => {
    const { id } = await received([{ amountBase: 500n * USDT }, { amountBase: 500n * USDT, asset: 'usdc_ethereum' }])
    await toLive(id)
    const stale = await person({ steppedUp: false })
    const before = (await notices()).length
    await request(stale, id, '60', live)
    const inUsdc = { ...live, asset: 'usdc_ethereum' as const }
    const second = await request(stale, id, '40', inUsdc)
    await expect(request(stale, id, '0.01', { ...live, reason })).rejects.toMatchObject(forbidden('stepUp'))
    await stale.caller.invoices.withdrawRefund({ ...stale.at, ...live, opId: randomUUID(), refundId: second.id })
    await request(stale, id, '0.01', live)
    expect((await notices()).length).toBe(before)
  })

  it('cannot be shown to be small without a rate', async () => {
    const { id } = await received([{ amountBase: 500n * USDT }])
    await toLive(id)
    const rateFor = async () => Promise.reject(new PaymeshError('RATES_UNAVAILABLE'))
    const stale = await person({
      steppedUp: false,
      deps: ({ money }) => ({ money: { ...money, rates: { ...money.rates, rateFor } } }),
    })
    await expect(request(stale, id, '1', live)).rejects.toMatchObject(forbidden('stepUp'))
  })
})
