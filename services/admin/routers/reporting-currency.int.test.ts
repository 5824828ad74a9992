import { beforeAll, expect, test } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createRollups } from '#shared/db/reports/rollups.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import { exportInvoices } from '#shared/usecases/reports/export-invoices.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let engine: Engine
let here: AdminCaller
beforeAll(async () => {
  // One euro is two dollars there.
  engine = await openEngine(stores)
  here = await adminCaller(stores, { workspaceId: engine.workspace.id })
})

const op = () => engine.deps.random.uuid()
const make = async (amount: string, currency: FiatCode) => {
  const { id } = await here.caller.invoices.create({ ...here.at, opId: op(), invoice: { amount, currency } })
  return await here.caller.invoices.get({ ...here.at, id })
}
const choose = async (reportingCurrency: FiatCode) => {
  const { version } = await here.caller.workspace.get(here.at)
  return await here.caller.workspace.update({ ...here.at, opId: op(), version, change: { reportingCurrency } })
}
const volume = async () => {
  const at = { ...here.at, span: 7 as const, zone: 'UTC' }
  const other = await adminCaller(stores, { workspaceId: engine.workspace.id })
  return (await other.caller.overview.volume(at)).reported
}

/** Guarantee: a report uses the rate of the moment of creation, and never a later one or a guess. */
test('the rate into the reporting currency is stored when an invoice is created', async () => {
  expect((await here.caller.workspace.get(here.at)).reportingCurrency).toBe('USD')
  const euro = await make('10.01', 'EUR')
  expect(euro.reporting).toMatchObject({ currency: 'USD', rate: '2', amount: '20.02' })
  expect((await make('5.00', 'USD')).reporting).toBeNull()
  // No current rate of the peso is published: the invoice is created all the same.
  expect((await make('100', 'CLP')).reporting).toBeNull()

  expect((await choose('EUR')).reportingCurrency).toBe('EUR')
  expect((await make('5.01', 'USD')).reporting).toMatchObject({ currency: 'EUR', rate: '0.5', amount: '2.51' })
  expect((await here.caller.invoices.get({ ...here.at, id: euro.id })).reporting).toMatchObject({ currency: 'USD' })

  let text = ''
  const { reportingCurrency } = await here.caller.workspace.get(here.at)
  const all = { search: null, status: null, asset: null, source: null, flag: null, createdFrom: null, createdTo: null }
  for await (const part of exportInvoices({ ...here.deps.money, reportingCurrency }, { ...here.at, ...all }))
    text += part
  // The reporting currency is the euro now: the column is filled for it, and says where no rate into it is stored.
  expect(text).toContain(',EUR,1,10.01,')
  expect(text).toContain(',EUR,0.5,2.51,')
  expect(text.split(',EUR,no rate,,')).toHaveLength(3)
})

test('paid volume is one sum in the reporting currency, and names what has no rate into it', async () => {
  const paidAt = new Date()
  await stores.db.collection(INVOICES).updateMany({}, { $set: { status: 'paid', paidAt } })
  await createRollups(stores.db).catchUp(Date.now())
  // 10.01 EUR itself, and 5.01 USD at 0.5; 5.00 USD was created while dollars were reported.
  expect(await volume()).toMatchObject({
    ...{ currency: 'EUR', price: '12.52', count: 2, before: '0.00', missingBefore: 0 },
    missing: [
      { currency: 'CLP', count: 1 },
      { currency: 'USD', count: 1 },
    ],
  })
  await choose('USD')
  // 10.01 EUR at 2, and both in dollars.
  expect(await volume()).toMatchObject({ currency: 'USD', price: '30.03', count: 3, missing: [{ currency: 'CLP' }] })
})

test('a rate that is older than two minutes is not used', async () => {
  engine.advance(300_000)
  const late = await adminCaller(stores, {
    workspaceId: engine.workspace.id,
    deps: (deps) => ({ money: { ...deps.money, rates: engine.deps.rates } }),
  })
  const { id } = await late.caller.invoices.create({
    ...late.at,
    opId: op(),
    invoice: { amount: '7', currency: 'EUR' },
  })
  expect((await late.caller.invoices.get({ ...late.at, id })).reporting).toBeNull()
})
