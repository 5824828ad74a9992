import { randomBytes, randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { WEBHOOK_DELIVERIES } from '#shared/db/deliveries/delivery-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { MODES, type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import { eventId } from '#shared/domain/ids.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { commandsOf } from '#test/support/commands-of.ts'
import { sampleInvoice, sampleObservation } from '#test/support/db-samples.ts'
import { deliveryStage } from '#test/support/delivery-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = deliveryStage(stores)
const CROWD = 300
const EXAMINED_MAX = 200
const HASH = `0x${'ab'.repeat(32)}`
const FOREIGN_HASH = `0x${'cd'.repeat(32)}`
const HOSTILE = ['\u202Egnp.exe', 'a\u200Bb', '<script>alert(1)</script>', 'W'.repeat(200)]
let ana: AdminCaller
let other: AdminCaller
/** Payments and deliveries that belong to invoice 1. */
let payment = ''
let delivery = ''

beforeAll(async () => {
  const { db, runtime } = stores
  ana = await adminCaller(stores)
  other = await adminCaller(stores)
  const at = Date.now()
  const invoices = createInvoiceRepository(db)
  const payments = createPaymentRepository(db, runtime.random)
  const endpoint = await stage.endpoint({
    workspaceId: ana.workspaceId,
    url: 'https://erp.test/hook',
    description: 'ERP',
  })
  const insert = async (number: number, name: string, workspaceId = ana.workspaceId) => {
    const sample = sampleInvoice(runtime.random, { workspaceId, number, at, orderId: `o-${number}` })
    const { id } = sample.terms
    await invoices.insert({ ...sample, terms: { ...sample.terms, customer: { name, email: null } } })
    return id
  }
  const pay = async (
    invoiceId: string,
    txHash: string,
    amountBase: bigint,
    workspaceId = ana.workspaceId,
    index = 0,
  ) => {
    const key = `test:ethereum:${txHash}:${index}`
    const [stored] = await payments.recordObservations(
      [sampleObservation(key, { invoiceId, workspaceId, txHash, outputIndex: index, amountBase })],
      1,
      at,
    )
    return stored?.id ?? ''
  }
  const first = await insert(1, 'Jürgen Müller')
  payment = await pay(first, HASH, 61_440_000n)
  const theirs = await insert(1, 'Jürgen Müller', other.workspaceId)
  await pay(theirs, FOREIGN_HASH, 61_440_000n, other.workspaceId)
  for (const [place, name] of HOSTILE.entries()) await insert(10 + place, name)
  const event = { id: eventId(first, 1), workspaceId: ana.workspaceId, mode: 'test', invoiceId: first, seq: 1 } as const
  const made = { ...event, type: 'invoice.paid', body: new Uint8Array([1]), createdAt: at } as const
  delivery = (await stage.delivery(endpoint, made)).id
  // Many of one name, of one amount and of one invoice.
  const crowd = await Promise.all(Array.from({ length: CROWD }, (_, row) => insert(100 + row, 'Ana Reyes')))
  const busy = crowd.at(-1) ?? ''
  await Promise.all(
    Array.from({ length: CROWD }, (_, row) => pay(busy, `0x${'ef'.repeat(32)}`, 5_000_000n, ana.workspaceId, row)),
  )
  await Promise.all(
    crowd.map((invoiceId) => stage.delivery(endpoint, { ...made, invoiceId, id: eventId(invoiceId, 1) })),
  )
})

/** A payment on a network under an id of its form. */
async function payOn(network: NetworkId, mode: Mode) {
  const { family } = CHAINS[network]
  const hex = randomBytes(32).toString('hex')
  const hash =
    family === 'solana' ? '5'.repeat(86) + (mode === 'live' ? 'x' : 'y') : family === 'evm' ? `0x${hex}` : hex
  const [stored] = await createPaymentRepository(stores.db, stores.runtime.random).recordObservations(
    [
      sampleObservation(`${mode}:${network}:${hash}:0`, {
        ...{ network, mode, txHash: hash, workspaceId: ana.workspaceId, invoiceId: randomUUID(), amountBase: 7n },
      }),
    ],
    1,
    Date.now(),
  )
  return { id: stored?.id ?? '', hash }
}

const paymentsOf = async (q: string, by = ana) =>
  (await by.caller.payments.list({ ...by.at, q })).items.map(({ id }) => id)
const deliveriesOf = async (q: string, by = ana) =>
  (await by.caller.deliveries.list({ ...by.at, q })).items.map(({ id }) => id)

it.each([
  HASH,
  ` ${HASH} `,
  `https://etherscan.io/tx/${HASH}`,
  '#1',
  'o-1',
  'jurgen mull',
  '61.44',
  '61.44 USDT',
  '61.440000 usdt',
])('a payment is found by %j', async (text) => expect(await paymentsOf(text)).toEqual([payment]))

// Guarantee: the page of a transaction in the explorer of each network, in each mode, names the transaction.
it.each(NETWORK_IDS.flatMap((network) => MODES.map((mode) => [network, mode] as const)))(
  'a payment is found by its page in the explorer of %s in %s mode',
  async (network, mode) => {
    const { id, hash } = await payOn(network, mode)
    const page = CHAINS[network].explorerTx[mode]?.replace('{tx}', hash) ?? hash
    const { items } = await ana.caller.payments.list({ workspaceId: ana.workspaceId, mode, q: page })
    expect(items.map((item) => item.id)).toEqual([id])
  },
)

it('a payment is found by its id', async () => expect(await paymentsOf(payment)).toEqual([payment]))

it.each(['61.44 BTC', '61.4', 'o-', 'urgen', FOREIGN_HASH, '.*', '(', '$where', '61.44 USD'])(
  'no payment is found by %j',
  async (text) => expect(await paymentsOf(text)).toEqual([]),
)

it.each(['#1', 'o-1', 'jürgen', HASH])('a delivery is found by %j of its invoice', async (text) =>
  expect(await deliveriesOf(text)).toEqual([delivery]),
)

it.each(['invoice.paid', 'INVOICE.PAID', 'erp.test/hook', 'https://erp.test/hook', 'erp'])(
  'deliveries are found by %j',
  async (text) => expect(await deliveriesOf(text)).toHaveLength(50),
)

it('events are found by what finds their invoice', async () => {
  for (const q of ['jürgen', 'Ana Reyes', '.*']) {
    const { items } = await ana.caller.deliveries.events({ ...ana.at, q })
    expect(items).toEqual([])
  }
})

// Guarantee: nothing of another workspace is found, by whatever names it.
it('finds nothing of another workspace', async () => {
  for (const text of [HASH, payment, delivery, 'erp', 'Ana Reyes']) {
    expect(await paymentsOf(text, other)).toEqual([])
    expect(await deliveriesOf(text, other)).toEqual([])
  }
  expect((await ana.caller.invoices.list({ ...ana.at, q: FOREIGN_HASH })).items).toEqual([])
  expect(await paymentsOf('61.44', other)).toHaveLength(1)
})

it('an invoice is found by its transaction and by an amount of coins that arrived', async () => {
  for (const q of [HASH, '61.44 USDT']) {
    const { items } = await ana.caller.invoices.list({ ...ana.at, q })
    expect(items.map(({ number }) => number)).toEqual([1])
  }
})

it('hostile names are found by themselves, and break nothing', async () => {
  for (const [place, name] of HOSTILE.entries()) {
    const { items } = await ana.caller.invoices.list({ ...ana.at, q: name })
    expect(items.map(({ number }) => number)).toEqual([10 + place])
  }
  await expect(paymentsOf('x'.repeat(10_000))).rejects.toThrow(/300|long/i)
})

// Guarantee: pages of a search show each payment once, however many an invoice has, and the file has the same.
it('pages through all payments of one invoice', async () => {
  const seen: string[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await ana.caller.payments.list({ ...ana.at, q: `#${100 + CROWD - 1}`, cursor })
    seen.push(...page.items.map(({ id }) => id))
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  expect(seen).toHaveLength(CROWD)
  expect(new Set(seen).size).toBe(CROWD)
  expect(seen).toEqual(seen.toSorted().reverse())
})

// Guarantee: however many share a name, an amount or an invoice, an answer reads at most 200 documents.
it.each(['Ana Reyes', 'a', '5', '5.00', '5 USDT', `#${100 + CROWD - 1}`, '100', 'invoice.paid', 'erp', 'zzz', '.*'])(
  'lists examine at most 200 documents for %j',
  async (q) => {
    for (const list of [
      () => ana.caller.payments.list({ ...ana.at, q }),
      () => ana.caller.deliveries.list({ ...ana.at, q }),
      () => ana.caller.deliveries.events({ ...ana.at, q }),
      () => ana.caller.invoices.list({ ...ana.at, q }),
    ]) {
      const commands = await commandsOf(stores.db, list)
      const examined = commands.reduce((sum, { docsExamined = 0 }) => sum + Number(docsExamined), 0)
      expect({ list: list.toString(), fits: examined <= EXAMINED_MAX, examined }).toMatchObject({ fits: true })
    }
    expect(await stores.db.collection(WEBHOOK_DELIVERIES).countDocuments({})).toBeGreaterThan(EXAMINED_MAX)
  },
)
