import { beforeAll, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { dayBefore, dayIn, dayStarts, monthOf } from '#shared/contracts/zone-days.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { invoiceFromDocument, invoiceToDocument } from '#shared/db/invoices/invoice-mapping.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { paymentFromDocument, paymentToDocument } from '#shared/db/payments/payment-mapping.ts'
import { PAYMENTS, type Payment } from '#shared/db/payments/payment-model.ts'
import { createOverviewReads } from '#shared/db/reports/overview-reads.ts'
import { createRollups, ROLLUPS_FACT } from '#shared/db/reports/rollups.ts'
import { createPrng } from '#test/simulation/kernel/prng.ts'
import { readCsv } from '#test/support/csv-rows.ts'
import { playInvoice, type ShopInvoice } from '#test/support/random-shop.ts'
import { useStores } from '#test/support/stores.ts'
import { exportLedger } from './export-ledger.ts'
import { readMovements } from './read-movements.ts'
import { createOverview } from './read-overview.ts'
import { type SettlementRow, settlementDays } from './read-settlements.ts'

const stores = useStores()
const HOUR_MS = 3_600_000
const NOW = Date.now()
const HOUR = Math.floor(NOW / HOUR_MS - 50) * HOUR_MS
const CROWD = 2_500
const WORKSPACE = 'crowded'
const PLACE = {
  mode: 'live' as const,
  catalog: createCatalog({ live: {}, test: {} }),
  begin: NOW - 90 * 24 * HOUR_MS,
  reportingCurrency: 'USD' as const,
}
/** The turns of an invoice that is paid exactly, and of one that is paid days after its end, and accepted. */
const [EXACT, TOO_LATE] = [1, 9]

beforeAll(async () => {
  // Half of them in one minute, and a fifth of all within four seconds.
  const at = (index: number) => {
    if (index < CROWD / 5) return HOUR + 60_000 + index * 8
    return index < CROWD / 2 ? HOUR + 60_000 + index * 20 : HOUR + index * 1_400
  }
  const { terms } = await playCopies(WORKSPACE, EXACT, CROWD, (index) => ({ bookedAt: [at(index)] }))
  await stores.db.collection(PAYMENTS).deleteMany({ invoiceId: terms.id })
})

// Guarantee: a file of any number of movements is made in bounded memory, whatever the hour in which they came, and each is in it once.
it.each(['oldest', 'newest'] as const)('reads a crowded hour in parts, in order and whole: %s first', async (order) => {
  const { bookReads } = createRepositories(stores.db, stores.runtime)
  const scope = { workspaceId: WORKSPACE, mode: 'live', from: null, to: null } as const
  const sizes: number[] = []
  const found: { readonly id: string; readonly at: number }[] = []
  for await (const batch of readMovements({ bookReads, clock: { now: () => NOW } }, scope, order)) {
    sizes.push(batch.length)
    found.push(...batch.map(({ movement: { id, at } }) => ({ id, at })))
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
  expect(new Set(found.map(({ id }) => id)).size).toBe(CROWD)
  const times = found.map(({ at }) => at)
  expect(times).toEqual(times.toSorted((one, other) => (order === 'oldest' ? one - other : other - one)))
  expect(found).toHaveLength(CROWD)
})

const DECIDED = 1_100

/** Plays an invoice, and stores so many copies of it under ids of their own, each with one payment that `change` gives other fields; returns its terms and movements. */
async function playCopies(
  workspaceId: string,
  turn: number,
  count: number,
  change: (index: number) => Partial<Payment>,
): Promise<ShopInvoice> {
  const place = { ...PLACE, workspaceId, numbersAfter: 0 }
  const one = await playInvoice(stores.db, createPrng(workspaceId), place, turn)
  const [stored] = await stores.db.collection(INVOICES).find({ workspaceId }).toArray()
  const [paid] = await stores.db.collection(PAYMENTS).find({ workspaceId }).toArray()
  if (stored === undefined || paid === undefined) throw new Error('nothing was played')
  const invoice = invoiceFromDocument(stored)
  const payment = paymentFromDocument(paid)
  const ids = Array.from(
    { length: count },
    (_, index) => `01b0000${turn}-0000-7000-8000-${String(index).padStart(12, '0')}`,
  )
  const keyOf = (id: string) => payment.key.replace(one.terms.id, id)
  const invoices = ids.map((id, index) => {
    const terms = { ...invoice.terms, id, number: 100 + index }
    const ledger = invoice.state.ledger.map((row) => ({ ...row, payment: keyOf(id) }))
    return {
      ...invoiceToDocument({ ...invoice, terms, state: { ...invoice.state, ledger }, idempotency: null, opId: null }),
      claims: [`shop:${id}`],
    }
  })
  await stores.db.collection(INVOICES).insertMany(invoices)
  const payments = ids.map((id, index) =>
    paymentToDocument({ ...payment, id, key: keyOf(id), txHash: id, invoiceId: id, ...change(index) }),
  )
  await stores.db.collection(PAYMENTS).insertMany(payments)
  return one
}

// Guarantee: decisions of one moment, however many, are each in every file and sum of their month once.
it('has every one of many decisions of one moment in files, days and months', async () => {
  const { terms, expected } = await playCopies('decided', TOO_LATE, DECIDED - 1, () => ({}))
  const { currency } = terms.fiat
  const correction = expected.find(({ kind }) => kind === 'correction')
  if (correction === undefined) throw new Error('nothing was accepted')
  const repositories = createRepositories(stores.db, stores.runtime)
  const deps = { ...repositories, clock: { now: () => NOW }, catalog: PLACE.catalog, reportingCurrency: 'USD' as const }
  const owner = { workspaceId: 'decided', mode: 'live' as const }

  for (const order of ['oldest', 'newest'] as const) {
    const found: string[] = []
    for await (const batch of readMovements(deps, { ...owner, from: null, to: null }, order))
      found.push(...batch.map(({ invoice, movement: { kind, at } }) => `${invoice.terms.id} ${kind} ${at}`))
    expect(found).toHaveLength(DECIDED * expected.length)
    expect(new Set(found).size).toBe(found.length)
  }

  const month = monthOf(`${dayIn(correction.at, 'UTC').slice(0, 7)}-01`)
  const [from = 0, to = 0] = dayStarts([month.first, dayBefore(month.last, -1)], 'UTC')
  const own = expected.filter(({ at }) => at >= from && at < to)
  const all = (part: (row: (typeof own)[number]) => bigint) =>
    own.reduce((sum, row) => sum + part(row), 0n) * BigInt(DECIDED)
  let text = ''
  for await (const part of exportLedger(deps, { ...owner, from, to, zone: 'UTC', profile: null })) text += part
  const rows = readCsv(text)
  expect(rows).toHaveLength(own.length * DECIDED)
  const minor = (value = '') => BigInt(value.replace('.', ''))
  expect(rows.reduce((sum, row) => sum + minor(row['value']), 0n)).toBe(all(({ value }) => value))

  const settled: SettlementRow[] = []
  for await (const day of settlementDays(deps, { ...owner, from, to, zone: 'UTC' })) settled.push(...day.rows)
  expect(settled.reduce((sum, { receivedBase }) => sum + receivedBase, 0n)).toBe(all(({ amount }) => amount))

  await stores.db.collection(INSTALLATION).deleteOne({ _id: ROLLUPS_FACT })
  await createRollups(stores.db).catchUp(NOW)
  const overview = createOverview({ reads: createOverviewReads(stores.db), clock: { now: () => NOW } })
  const volume = await overview.volume({ ...owner, zone: 'UTC', ...month })
  const received = volume.rows.filter((row) => row.figure === 'received' && row.currency === currency)
  expect(received.reduce((sum, row) => sum + row.minor, 0n)).toBe(
    own.reduce((sum, row) => sum + (row.counted ? row.value : 0n), 0n) * BigInt(DECIDED),
  )
})
