import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { AUDIT_LOG } from '#shared/db/audit/audit-model.ts'
import { EXCEPTIONS } from '#shared/db/exceptions/exception-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { PAYMENTS } from '#shared/db/payments/payment-model.ts'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { confirmPayments, recordBlockTransfers } from '#shared/usecases/payments/record-payments.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { deepTest } from '#test/support/depth.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const SCOPE = { mode: 'test', network: 'ethereum', epoch: 1 } as const
const FORBIDDEN = (path: string) => ({ code: 'FORBIDDEN', cause: { details: [{ path, message: 'needed' }] } })
const reason = 'Agreed with the customer.'

const stores = useStores()
let engine: Engine
let height = 100
beforeAll(async () => {
  engine = await openEngine(stores)
})

/**
 * A person of the shop. The store's own clock gives rates their age, and the engine's clock is ahead of it: prices are published once
 * more whenever they would be too old.
 */
const person = async (options: Parameters<typeof adminCaller>[1] = {}): Promise<AdminCaller> =>
  await adminCaller(stores, {
    ...options,
    workspaceId: engine.workspace.id,
    mode: 'live',
    role: options.role ?? 'support',
  })

async function relay(): Promise<void> {
  for (let shard = 0; shard < 8; shard += 1) await createOutboxRelay(engine.deps).relayShard(shard)
}

/**
 * An expired invoice of so many US cents of which parts were paid, in percent; `paymentId` is the first one. It is opened in test mode, where the engine has a chain, and then
 * stored as one of live mode.
 */
async function partlyPaid(minor: bigint, ...percents: readonly bigint[]) {
  await engine.publishRates()
  await engine.watchEverything()
  const opened = await engine.open({ asset: 'usdt_ethereum', minor })
  const { id } = opened.terms
  const due = opened.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n
  height += 10
  const transfers = percents.map((percent) => ({ key: `k${randomUUID()}`, amountBase: (due * percent) / 100n }))
  const block = blockWith(height, engine.deps.clock.now(), paymentMethodOf(opened), transfers)
  await recordBlockTransfers(engine.deps, { ...SCOPE, blocks: [block] })
  await confirmPayments(engine.deps, { ...SCOPE, height: height + 9, finalizedHeight: null })
  await advanceInvoice(engine.deps, id)
  engine.advance(3_600_000)
  await engine.setCursor(height, engine.deps.clock.now())
  await advanceInvoice(engine.deps, id)
  await relay()
  const [payment] = await engine.deps.payments.findByKeys([transfers[0]?.key ?? ''])
  const live = { $set: { mode: 'live' as const } }
  await stores.db.collection(INVOICES).updateOne({ _id: id }, { $set: { mode: 'live', number: height } })
  await stores.db.collection(PAYMENTS).updateMany({ invoiceId: id }, live)
  await stores.db.collection(EXCEPTIONS).updateMany({ invoiceId: id }, live)
  return { invoiceId: id, paymentId: payment?.id ?? '', exceptionId: `partial:${id}` }
}

const statusOf = async (id: string) => (await engine.deps.invoices.findById(id))?.state.status
const notices = async () => await stores.db.collection(MAILS).find({ template: 'owner_notice' }).toArray()
const rowsOf = async (subject: string) => await stores.db.collection(AUDIT_LOG).countDocuments({ subject })

// Guarantee: a stolen session cannot write off more than the threshold without a code, and every owner gets a mail when it was done.
test('a large shortfall needs a fresh code, changes nothing without it, and is mailed once', async () => {
  const { invoiceId, exceptionId } = await partlyPaid(50_000n, 40n)
  const request = { id: exceptionId, opId: randomUUID(), reason }
  const bare = await person({ secondFactor: 'none', steppedUp: false })
  await expect(bare.caller.exceptions.accept({ ...bare.at, ...request })).rejects.toMatchObject(
    FORBIDDEN('secondFactor'),
  )
  const stale = await person({ steppedUp: false })
  await expect(stale.caller.exceptions.accept({ ...stale.at, ...request })).rejects.toMatchObject(FORBIDDEN('stepUp'))
  await relay()
  expect([await statusOf(invoiceId), await notices(), await rowsOf(exceptionId)]).toEqual(['expired', [], 0])

  const { caller, at } = await person()
  await caller.exceptions.accept({ ...at, ...request })
  await caller.exceptions.accept({ ...at, ...request })
  await expect(caller.exceptions.accept({ ...at, ...request, reason: 'another' })).rejects.toMatchObject({
    cause: { code: 'IDEMPOTENCY_MISMATCH' },
  })
  await relay()
  await relay()
  expect(await statusOf(invoiceId)).toBe('paid')
  const [mail, ...others] = await notices()
  expect([mail?.to, others]).toEqual(['owner@example.com', []])
  const { text } = renderMail({ template: 'owner_notice', data: mail?.data ?? {} })
  for (const part of ['300.00 USD', 'olivia@example.com', '127.0.0.1', reason, 'change your passwords'])
    expect(text).toContain(part)
})

test('a shortfall at the threshold needs no code and is not mailed', async () => {
  const before = (await notices()).length
  const { invoiceId, exceptionId } = await partlyPaid(20_000n, 50n)
  const { caller, at } = await person({ steppedUp: false })
  await caller.exceptions.accept({ ...at, id: exceptionId, opId: randomUUID(), reason })
  await relay()
  expect([await statusOf(invoiceId), (await notices()).length]).toEqual(['paid', before])
})

deepTest('the threshold is the workspace’s: 0 means every shortfall', async () => {
  const owner = await person({ role: 'owner' })
  const { version } = await owner.caller.workspace.get(owner.at)
  const change = { largeSumUsd: 0 }
  await owner.caller.workspace.update({ ...owner.at, opId: randomUUID(), version, change })
  const { exceptionId } = await partlyPaid(1_000n, 99n)
  const stale = await person({ steppedUp: false })
  const request = { ...stale.at, id: exceptionId, opId: randomUUID(), reason }
  await expect(stale.caller.exceptions.accept(request)).rejects.toMatchObject(FORBIDDEN('stepUp'))
  const now = (await owner.caller.workspace.get(owner.at)).version
  await owner.caller.workspace.update({
    ...{ ...owner.at, opId: randomUUID(), version: now },
    change: { largeSumUsd: 100 },
  })
})

// Guarantee: accepting several at once is no way around the code, and without it not even the harmless ones are decided.
deepTest('one large shortfall among several needs a code, and nothing is changed without it', async () => {
  const [small, large] = [await partlyPaid(5_000n, 90n), await partlyPaid(50_000n, 40n)]
  const ids = [small.exceptionId, large.exceptionId]
  const request = { ids, resolution: 'accepted' as const, opId: randomUUID(), reason }
  const mailsBefore = (await notices()).length
  const stale = await person({ steppedUp: false })
  const { decisions } = await stale.caller.exceptions.previewMany({ ...stale.at, ids })
  expect(decisions[0]).toMatchObject({ possible: ids, refused: [], needCode: 1 })
  await expect(stale.caller.exceptions.decideMany({ ...stale.at, ...request })).rejects.toMatchObject(
    FORBIDDEN('stepUp'),
  )
  await relay()
  expect([await statusOf(small.invoiceId), await statusOf(large.invoiceId)]).toEqual(['expired', 'expired'])
  expect([await rowsOf(ids[0] ?? ''), await rowsOf(ids[1] ?? ''), (await notices()).length]).toEqual([
    0,
    0,
    mailsBefore,
  ])
  const { caller, at } = await person()
  expect((await caller.exceptions.previewMany({ ...at, ids })).decisions[0]?.needCode).toBe(0)
  expect(await caller.exceptions.decideMany({ ...at, ...request })).toEqual({ done: ids, refused: [] })
  expect(await caller.exceptions.decideMany({ ...at, ...request })).toEqual({ done: ids, refused: [] })
  await relay()
  expect([await statusOf(small.invoiceId), await statusOf(large.invoiceId)]).toEqual(['paid', 'paid'])
  expect([await rowsOf(ids[0] ?? ''), await rowsOf(ids[1] ?? ''), (await notices()).length]).toEqual([
    ...[1, 1],
    mailsBefore + 1,
  ])
})

// Guarantee: the other way to accept money, by its payment, is no way around the code.
test('attaching the payment needs the code as well; a stated value proves nothing', async () => {
  const { invoiceId, paymentId } = await partlyPaid(50_000n, 40n)
  const stale = await person({ steppedUp: false })
  const request = { ...stale.at, invoiceId, paymentId, opId: randomUUID(), reason }
  await expect(stale.caller.payments.attach(request)).rejects.toMatchObject(FORBIDDEN('stepUp'))
  expect(await statusOf(invoiceId)).toBe('expired')
  // The same transfer, as if it were in another coin that somebody says is worth everything.
  await stores.db.collection(PAYMENTS).updateOne({ _id: paymentId }, { $set: { asset: 'usdc_ethereum' } })
  const due = (await engine.deps.invoices.findById(invoiceId))?.state.paymentMethods[0]?.quotes[0]?.amountBase ?? 0n
  const stated = { ...request, valueBase: due.toString() }
  await expect(stale.caller.payments.attach(stated)).rejects.toMatchObject(FORBIDDEN('stepUp'))
  expect(await statusOf(invoiceId)).toBe('expired')
  // The mail says what happened: money came, and a person stated what it is worth.
  const { caller } = await person()
  await caller.payments.attach({ ...stated, opId: randomUUID() })
  await relay()
  const { text } = renderMail({ template: 'owner_notice', data: (await notices()).at(-1)?.data ?? {} })
  expect(text).toMatch(/a person stated its value\..*up to 500\.00 USD may be missing/s)
  expect(text).not.toContain('underpayment')
})

// Guarantee: what is checked is what is saved: a payment that vanishes, or is refused, between the two does not go through.
test('a reorganisation after the check, and a change of the invoice before the write, are checked again', async () => {
  const { invoiceId, exceptionId, paymentId } = await partlyPaid(50_000n, 60n, 30n)
  const request = { id: exceptionId, opId: randomUUID(), reason }
  let interfere: () => Promise<void> = async () => undefined
  const stale = await person({
    steppedUp: false,
    deps: ({ money }) => ({
      money: {
        ...money,
        decisions: {
          ...money.decisions,
          claim: async (...given) => {
            const claimed = await money.decisions.claim(...given)
            await interfere()
            return claimed
          },
        },
      },
    }),
  })
  const payments = stores.db.collection(PAYMENTS)
  const orphan = () =>
    payments.updateOne({ _id: paymentId }, { $set: { state: 'orphaned', dirtyAt: new Date() }, $inc: { version: 1 } })
  interfere = async () => void (await orphan())
  await expect(stale.caller.exceptions.accept({ ...stale.at, ...request })).rejects.toMatchObject(FORBIDDEN('stepUp'))
  expect(await statusOf(invoiceId)).toBe('expired')
  // Others may decide at once: the claim ended with the refusal.
  expect((await stores.db.collection(EXCEPTIONS).findOne({ _id: exceptionId }))?.deciding ?? null).toBeNull()

  const lost = await partlyPaid(50_000n, 60n, 30n)
  let isFirst = true
  const racing = await person({
    steppedUp: false,
    deps: ({ money }) => ({
      money: {
        ...money,
        invoices: {
          ...money.invoices,
          save: async (...given) => {
            if (isFirst) {
              isFirst = false
              await payments.updateOne(
                { _id: lost.paymentId },
                { $set: { state: 'orphaned', dirtyAt: new Date() }, $inc: { version: 1 } },
              )
              await advanceInvoice(engine.deps, lost.invoiceId)
            }
            return await money.invoices.save(...given)
          },
        },
      },
    }),
  })
  const again = { ...racing.at, id: lost.exceptionId, opId: randomUUID(), reason }
  await expect(racing.caller.exceptions.accept(again)).rejects.toMatchObject(FORBIDDEN('stepUp'))
  expect([isFirst, await statusOf(lost.invoiceId)]).toEqual([false, 'expired'])
})

deepTest('in test mode nothing asks for a code', async () => {
  const { invoiceId, exceptionId } = await partlyPaid(50_000n, 40n)
  const test = { $set: { mode: 'test' as const } }
  await stores.db
    .collection(INVOICES)
    .updateOne({ _id: invoiceId }, { $set: { mode: 'test', number: 10_000 + height } })
  await stores.db.collection(PAYMENTS).updateMany({ invoiceId }, test)
  await stores.db.collection(EXCEPTIONS).updateMany({ invoiceId }, test)
  const { caller, workspaceId } = await person({ secondFactor: 'none', steppedUp: false })
  await caller.exceptions.accept({ workspaceId, mode: 'test', id: exceptionId, opId: randomUUID(), reason })
  expect(await statusOf(invoiceId)).toBe('paid')
})
