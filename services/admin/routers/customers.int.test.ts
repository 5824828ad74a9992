import { beforeAll, expect, test } from 'vitest'
import { advanceInvoice } from '#shared/usecases/invoices/advance-invoice.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let engine: Engine
let here: AdminCaller
let other: AdminCaller
beforeAll(async () => {
  engine = await openEngine(stores)
  here = await adminCaller(stores, { workspaceId: engine.workspace.id })
  other = await adminCaller(stores, { deps: () => here.deps })
})

const op = () => engine.deps.random.uuid()
const ANA = { email: 'ana@example.com', name: 'Ana' }
const make = async (person: AdminCaller, customer: object | undefined, fields: object = {}) => {
  const invoice = { amount: '20', currency: 'USD', ...(customer !== undefined && { customer }), ...fields }
  return (await person.caller.invoices.create({ ...person.at, opId: op(), invoice: invoice as never })).id
}

/** Guarantee: a customer's page adds up their invoices of this workspace, exactly, and shows nobody else's. */
test('shows invoices, payments and exact totals of one e-mail address', async () => {
  const first = await make(here, ANA)
  const paid = await make(here, { email: ANA.email }, { asset: 'usdt_ethereum', amount: '12.34' })
  const euro = await make(here, ANA, { currency: 'EUR', amount: '7' })
  await make(here, { email: 'bea@example.com', name: 'Ana' })
  await make(other, ANA)
  await here.caller.invoices.simulate({ ...here.at, id: paid, opId: op(), scenario: 'paid' })
  await advanceInvoice(engine.deps, paid)

  const NONE = { short: '0.00', excess: '0.00', refunded: '0.00' }
  const known = await here.caller.customers.get({ ...here.at, id: first })
  expect(known).toMatchObject(ANA)
  expect(known.totals).toEqual({
    ...{ invoices: 3, complete: true },
    currencies: [
      { currency: 'USD', count: 2, amount: '32.34', paidCount: 1, price: '12.34', received: '12.34', ...NONE },
      { currency: 'EUR', count: 1, amount: '7.00', paidCount: 0, price: '0.00', received: '0.00', ...NONE },
    ],
    coins: [
      {
        asset: 'usdt_ethereum',
        symbol: 'USDT',
        networkName: 'Ethereum',
        invoices: 1,
        confirmed: '12.34',
        refunded: null,
      },
    ],
  })
  const list = await here.caller.customers.invoices({ ...here.at, id: euro })
  expect(list.items.map(({ id }) => id)).toEqual([euro, paid, first])
  expect(list.payments.map(({ invoiceId, amount }) => [invoiceId, amount])).toEqual([[paid, '12.34']])
  const pages = await here.caller.customers.invoices({ ...here.at, id: euro, limit: 2 })
  const next = await here.caller.customers.invoices({ ...here.at, id: euro, limit: 2, cursor: pages.nextCursor ?? '' })
  expect([...pages.items, ...next.items].map(({ id }) => id)).toEqual([euro, paid, first])
  expect(next.nextCursor).toBeNull()
})

test('matches nobody without an e-mail address, and forgets an erased one', async () => {
  const named = await make(here, { name: 'Ana' })
  expect(await here.caller.customers.get({ ...here.at, id: named })).toMatchObject({ name: 'Ana', totals: null })
  expect((await here.caller.customers.invoices({ ...here.at, id: named })).items).toEqual([])

  const [one, two] = [await make(here, { email: 'eva@example.com' }), await make(here, { email: 'eva@example.com' })]
  await here.caller.invoices.eraseCustomer({ ...here.at, id: one, opId: op(), reason: 'asked for it' })
  expect((await here.caller.customers.get({ ...here.at, id: one })).totals).toBeNull()
  expect((await here.caller.customers.get({ ...here.at, id: two })).totals?.invoices).toBe(1)
})
