import { beforeEach, describe, expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { dayBefore, dayIn, dayStarts, daysOf, lastDays, monthOf } from '#shared/contracts/zone-days.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { INSTALLATION } from '#shared/db/installation/installation-model.ts'
import { createOverviewReads } from '#shared/db/reports/overview-reads.ts'
import { createRollups, ROLLUPS_FACT } from '#shared/db/reports/rollups.ts'
import type { MoneyFigure, MoneySum } from '#shared/domain/books/invoice-books.ts'
import { type FiatCode, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Random } from '#shared/ports/runtime.ts'
import { viewInvoice } from '#shared/usecases/invoices/view-invoice.ts'
import { exportInvoices } from '#shared/usecases/reports/export-invoices.ts'
import { exportPayments } from '#shared/usecases/reports/export-payments.ts'
import { exportSettlements } from '#shared/usecases/reports/export-settlements.ts'
import { readCustomerTotals } from '#shared/usecases/reports/read-customer.ts'
import { createOverview } from '#shared/usecases/reports/read-overview.ts'
import { type SettlementRow, settlementDays } from '#shared/usecases/reports/read-settlements.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { createPrng } from '#test/simulation/kernel/prng.ts'
import { readCsv } from '#test/support/csv-rows.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import type { ExpectedMovement } from '#test/support/ledger-book.ts'
import { playInvoice, type ShopInvoice } from '#test/support/random-shop.ts'
import { standIn } from '#test/support/stand-in.ts'
import { useStores } from '#test/support/stores.ts'
import { exportLedger } from './export-ledger.ts'
import { LEDGER_PROFILES } from './ledger-profiles.ts'

const stores = useStores()
const DAY = 86_400_000
const NOW = Date.now()
const REPORTING: FiatCode = 'USD'
const SHOPS = Number(globalThis.process.env['SHOPS'] ?? (EVERY_CASE ? 12 : 1))
const INVOICES = EVERY_CASE ? 60 : 30
/** Three months around a change of the clock in Berlin, the last one that ended long enough ago; of the others a shop has two. */
const OTHER_ZONES = [
  ...['Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe', 'Africa/Casablanca', 'America/Santiago'],
  ...['Pacific/Apia', 'America/Havana', 'Antarctica/Troll', 'Asia/Beirut'],
]
const catalog = createCatalog({ live: {}, test: {} })

function lastChange(zone: string): number {
  const offset = (at: number) =>
    new Date(at).toLocaleString('sv-SE', { timeZone: zone, timeZoneName: 'longOffset' }).slice(-6)
  let at = NOW - 100 * DAY
  while (offset(at) === offset(at - DAY) && at > NOW - 300 * DAY) at -= DAY
  return at
}

const parts = () => {
  const base = { ...createRepositories(stores.db, stores.runtime), clock: { now: () => NOW }, catalog }
  return {
    ...base,
    lookups: base.invoiceLookups,
    reportingCurrency: REPORTING,
    networkName: (name: string) => `the ${name}`,
  }
}
const minor = (text: string, currency: string): bigint => {
  const [whole = '', decimals = ''] = text.replace('-', '').split('.')
  const size = BigInt(whole + decimals.padEnd(currency === 'CLP' ? 0 : 2, '0'))
  return text.startsWith('-') ? -size : size
}
async function textOf(file: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of file) text += part
  return text
}
const linesOf = async (file: AsyncIterable<string>) => readCsv(await textOf(file))
const sum = <T>(rows: readonly T[], of: (row: T) => bigint): bigint => rows.reduce((total, row) => total + of(row), 0n)

beforeEach(async () => {
  await stores.db.collection(INSTALLATION).deleteOne({ _id: ROLLUPS_FACT })
})

// Guards the books: what any page or file says about money is what an independent ledger says, to the minor unit.
describe.each(Array.from({ length: SHOPS }, (_, seed) => seed))('a random shop over three months, seed %i', (seed) => {
  const workspaceId = `books-${seed}`
  const owner = { workspaceId, mode: 'live' as const }
  const zones = ['Europe/Berlin', ...[0, 1].map((next) => OTHER_ZONES[(2 * seed + next) % OTHER_ZONES.length] ?? 'UTC')]
  let shop: readonly ShopInvoice[] = []
  const entries = () => shop.flatMap(({ terms, expected }) => expected.map((row) => ({ terms, row })))
  const everyRow = () => entries().map(({ row }) => row)

  it('ties out everywhere', { timeout: 1_200_000 }, async () => {
    const random = createPrng(`books ${seed}`)
    const begin = lastChange('Europe/Berlin') - 45 * DAY
    const place = { ...owner, numbersAfter: seed * 1_000, catalog, begin, reportingCurrency: REPORTING }
    const played: ShopInvoice[] = []
    for (let number = 1; number <= INVOICES; number += 1)
      played.push(await playInvoice(stores.db, random, place, seed * 1_000 + number))
    shop = played
    // The same stories in test mode, which is in no figure of live mode.
    const test = { ...place, mode: 'test', numbersAfter: 500_000 + seed * 1_000 } as const
    for (let number = 1; number <= INVOICES; number += 3)
      await playInvoice(stores.db, random, test, test.numbersAfter + number)
    expect(new Set(entries().map(({ row }) => row.kind)).size).toBe(4)
    await expectLedger()
    await expectInvoices()
    await expectPayments()
    await createRollups(stores.db).catchUp(NOW)
    for (const zone of zones) {
      await expectOverview(zone)
      await expectSettlements(zone)
    }
    for (const zone of EVERY_CASE ? zones : zones.slice(0, 1)) await expectMonths(zone)
    await expectCustomers()
    await expectReceipts()
    await expectNames()
  })

  /** A name means the same in every file. */
  async function expectNames(): Promise<void> {
    const open = { ...owner, createdFrom: null, createdTo: null }
    const span = { ...owner, from: null, to: null, zone: 'UTC' }
    const invoices = await linesOf(
      exportInvoices(parts(), { ...open, search: null, status: null, asset: null, source: null, flag: null }),
    )
    const payments = await linesOf(exportPayments(parts(), { ...open, network: null, counted: null }))
    const ledger = await linesOf(exportLedger(parts(), { ...span, profile: null }))
    const settlements = await linesOf(exportSettlements(parts(), span))
    // Spreadsheets read accents only behind a mark.
    const empty = { ...span, from: 0, to: 1 }
    const headings = [
      exportInvoices(parts(), {
        ...open,
        createdTo: 1,
        search: null,
        status: null,
        asset: null,
        source: null,
        flag: null,
      }),
      exportPayments(parts(), { ...open, createdTo: 1, network: null, counted: null }),
      exportLedger(parts(), { ...empty, profile: null }),
      exportSettlements(parts(), empty),
    ]
    for (const file of headings) expect(await textOf(file)).toMatch(/^\uFEFF[a-z_,]+\r\n$/)
    const networks = [invoices, payments, ledger, settlements].flat().map((row) => row['network'] ?? '')
    expect([...new Set(networks)].filter((name) => !NETWORK_IDS.some((id) => id === name))).toEqual([])
    const money = ledger.filter((row) => row['payment_id'] !== '')
    for (const name of ['applied_value', 'excess_value', 'market_value', 'reporting_value']) {
      const isKnown = (row: (typeof ledger)[number]) => /^-?\d/.test(row[name] ?? '')
      const of = (row: (typeof ledger)[number]) => minor(row[name] ?? '', row['currency'] ?? '')
      const id = (row: (typeof ledger)[number]) => row['payment_id'] ?? ''
      const known = payments.filter((row) => isKnown(row) && money.some((one) => id(one) === id(row)))
      const wanted = new Set(known.map(id))
      // What came without a rate and went again is worth nothing in the one, and has no rate twice in the other.
      const sums = (rows: typeof ledger) => tally(rows, id, of).filter(([, amount]) => amount !== 0n)
      expect([name, sums(known)]).toEqual([name, sums(money.filter((row) => wanted.has(id(row)) && isKnown(row)))])
    }
    // The same question has one name in both: how the price and what came are called in the reporting currency.
    expect(Object.keys(invoices[0] ?? {})).not.toContain('reporting_value')
  }

  async function expectLedger(): Promise<void> {
    const scope = { ...owner, from: null, to: null, zone: 'UTC' }
    const rows = await linesOf(exportLedger(parts(), { ...scope, profile: null }))
    const found = rows.map((row) => [
      ...[
        row['kind'],
        row['time'],
        row['invoice_number'],
        row['asset'],
        row['amount'],
        row['value'],
        row['excess_value'],
      ],
      ...[row['market_value'], row['reporting_value']],
    ])
    const expected = entries().map(({ terms, row }) => [
      ...[row.kind, new Date(row.at).toISOString(), String(terms.number), row.asset, units(row)],
      ...[fiat(row.value, terms.fiat.currency), fiat(row.excess, terms.fiat.currency)],
      row.market === null ? 'no rate' : fiat(row.market, terms.fiat.currency),
      reportedOf(terms.fiat.currency, row) === null ? '' : fiat(reportedOf(terms.fiat.currency, row) ?? 0n, REPORTING),
    ])
    expect(found.toSorted()).toEqual(expected.toSorted())
    expect(rows.map((row) => row['time'])).toEqual(rows.map((row) => row['time']).toSorted())
    const moved = everyRow().filter(({ kind }) => kind !== 'correction')
    for (const profile of LEDGER_PROFILES) {
      const file = await textOf(exportLedger(parts(), { ...scope, profile }))
      expect([profile, readCsv(file).length, file.startsWith('\uFEFF')]).toEqual([profile, moved.length, false])
    }
    const [from, to] = [lastChange('Europe/Berlin'), lastChange('Europe/Berlin') + 30 * DAY]
    const month = await linesOf(exportLedger(parts(), { ...scope, from, to, profile: null }))
    expect(month).toHaveLength(everyRow().filter(({ at }) => at >= from && at < to).length)
  }

  async function expectInvoices(): Promise<void> {
    const query = { ...owner, search: null, status: null, asset: null, source: null, flag: null }
    const rows = await linesOf(exportInvoices(parts(), { ...query, createdFrom: null, createdTo: null }))
    expect(rows).toHaveLength(shop.length)
    for (const { terms, expected } of shop) {
      const row = rows.find((one) => one['invoice_id'] === terms.id) ?? {}
      const { currency } = terms.fiat
      const of = (name: string) => minor(row[name] ?? '', currency)
      const received = sum(
        expected.filter(({ isBack }) => !isBack),
        ({ value }) => value,
      )
      const refunded = -sum(
        expected.filter(({ isBack }) => isBack),
        ({ value }) => value,
      )
      expect([of('received_value'), of('refunded_value'), of('net_value')]).toEqual([
        received,
        refunded,
        received - refunded,
      ])
      expect(of('price')).toBe(of('received_value') + of('short_value') - of('excess_value'))
      expect(of('price')).toBe(terms.fiat.minor)
    }
  }

  async function expectPayments(): Promise<void> {
    const query = { ...owner, network: null, counted: null, createdFrom: null, createdTo: null }
    const rows = await linesOf(exportPayments(parts(), query))
    // The API has the same payments, counted or not.
    const listed = await parts().payments.list({ ...owner, invoiceId: null, beforeId: null, limit: 10_000 })
    expect(listed.map(({ id }) => id).toSorted()).toEqual(rows.map((row) => row['payment_id'] ?? '').toSorted())
    for (const { terms, expected } of shop) {
      const own = rows.filter((row) => row['invoice_id'] === terms.id)
      const { currency } = terms.fiat
      const moved = expected.filter(({ isBack }) => !isBack)
      expect(sum(own, (row) => minor(row['received_value'] ?? '', currency))).toBe(sum(moved, ({ value }) => value))
      expect(sum(own, (row) => minor(row['excess_value'] ?? '', currency))).toBe(sum(moved, ({ excess }) => excess))
    }
  }

  async function expectOverview(zone: string): Promise<void> {
    const overview = createOverview({ reads: createOverviewReads(stores.db), clock: { now: () => NOW } })
    const { first } = lastDays(lastChange('Europe/Berlin') - 50 * DAY, 1, zone)
    const range = { first, last: dayIn(lastChange('Europe/Berlin') + 100 * DAY, zone) }
    expect(daysOf(range).length).toBeLessThanOrEqual(190)
    const { rows } = await overview.volume({ ...owner, zone, ...range })
    const of = (figure: MoneyFigure, part: (row: MoneySum) => bigint) =>
      tally(
        rows.filter((row) => row.figure === figure),
        (row) => `${row.day} ${row.currency}`,
        part,
      )
    const moved = (
      figure: 'received' | 'refunded',
      value: (entry: ReturnType<typeof entries>[number]) => bigint | null,
    ) =>
      tally(
        entries().filter(({ row }) => row.isBack === (figure === 'refunded') && row.counted),
        ({ terms, row }) => `${dayIn(row.at, zone)} ${terms.fiat.currency}`,
        (entry) => (figure === 'refunded' ? -(value(entry) ?? 0n) : (value(entry) ?? 0n)),
      )
    for (const figure of ['received', 'refunded'] as const) {
      expect(of(figure, (row) => row.minor)).toEqual(moved(figure, ({ row }) => row.value))
      expect(of(figure, (row) => row.reported[REPORTING]?.minor ?? 0n)).toEqual(
        moved(figure, ({ row }) => row.reported),
      )
    }
    for (const figure of ['market_received', 'market_refunded', 'unpriced'] as const) {
      const isWanted = ({ kind, market }: ExpectedMovement) =>
        (market === null) === (figure === 'unpriced') &&
        (figure === 'unpriced' || (kind === 'refund') === (figure === 'market_refunded')) &&
        kind !== 'correction'
      const worth = (row: ExpectedMovement) => (row.kind === 'refund' ? -(row.market ?? 0n) : (row.market ?? 0n))
      const wanted = entries().filter(({ row }) => isWanted(row))
      const day = ({ terms, row }: (typeof wanted)[number]) => `${dayIn(row.at, zone)} ${terms.fiat.currency}`
      if (figure === 'unpriced') expect(of(figure, (row) => BigInt(row.count))).toEqual(tally(wanted, day, () => 1n))
      else expect(of(figure, (row) => row.minor)).toEqual(tally(wanted, day, ({ row }) => worth(row)))
    }
    const paid = shop.filter(({ paidAt }) => paidAt !== null)
    const day = ({ terms, paidAt }: ShopInvoice) => `${dayIn(paidAt ?? 0, zone)} ${terms.fiat.currency}`
    expect(of('price', (row) => row.minor)).toEqual(tally(paid, day, ({ terms }) => terms.fiat.minor))
    for (const figure of ['short', 'excess'] as const) {
      const isMoved = ([, amount]: readonly [string, bigint]) => amount !== 0n
      const wanted = gaps(figure)
      expect(of(figure, (row) => row.minor).filter(isMoved)).toEqual(
        tally(
          wanted,
          ({ terms, at }) => `${dayIn(at, zone)} ${terms.fiat.currency}`,
          ({ change }) => change,
        ).filter(isMoved),
      )
    }
    const months = (text: string) => text.slice(0, 7)
    expect(new Set(rows.map((row) => months(row.day))).size).toBeGreaterThan(2)
  }

  async function expectSettlements(zone: string): Promise<void> {
    const days = []
    for await (const one of settlementDays(parts(), { ...owner, from: null, to: null, zone })) days.push(one)
    const found = days.flatMap(({ day, rows }) => rows.map((row) => ({ day, ...row })))
    const key = (day: string, asset: string) => `${day} ${asset}`
    const expected = (isRefund: boolean) =>
      tally(
        everyRow().filter(({ kind }) => (kind === 'refund') === isRefund),
        ({ at, asset }) => key(dayIn(at, zone), asset),
        ({ amount }) => (isRefund ? -amount : amount),
      ).filter(([, amount]) => amount !== 0n)
    const actual = (of: (row: (typeof found)[number]) => bigint) =>
      tally(found, ({ day, asset }) => key(day, asset), of).filter(([, amount]) => amount !== 0n)
    expect(actual(({ receivedBase }) => receivedBase)).toEqual(expected(false))
    expect(actual(({ refundedBase }) => refundedBase)).toEqual(expected(true))
    expect(days.map(({ day }) => day)).toEqual(
      days
        .map(({ day }) => day)
        .toSorted()
        .toReversed(),
    )
  }

  /** What paid invoices are short of, or above the price: at the moment when they were paid, and how that changed later. */
  function gaps(figure: 'short' | 'excess') {
    return shop.flatMap(({ terms, paidAt, expected }) => {
      if (paidAt === null) return []
      const money = expected.filter(({ isBack }) => !isBack)
      const at = (time: number) => {
        const balance = sum(
          money.filter((row) => row.at <= time),
          ({ value }) => value,
        )
        const gap = figure === 'short' ? terms.fiat.minor - balance : balance - terms.fiat.minor
        return gap > 0n ? gap : 0n
      }
      const times = [...new Set(money.map((row) => row.at).filter((time) => time > paidAt))].toSorted(
        (one, other) => one - other,
      )
      return [paidAt, ...times].map((time, index) => {
        return { terms, at: time, change: at(time) - (index === 0 ? 0n : at(times[index - 2] ?? paidAt)) }
      })
    })
  }

  /** Each month closed on its own, as a bookkeeper does: every file and page asked for that month alone, its sums beside the ledger's. */
  async function expectMonths(zone: string): Promise<void> {
    const overview = createOverview({ reads: createOverviewReads(stores.db), clock: { now: () => NOW } })
    const months = [...new Set(entries().map(({ row }) => dayIn(row.at, zone).slice(0, 7)))].toSorted()
    expect(months.length).toBeGreaterThan(2)
    let closed = 0
    for (const month of months) {
      const { first, last } = monthOf(`${month}-01`)
      const [from = 0, to = 0] = dayStarts([first, dayBefore(last, -1)], zone)
      const period = { ...owner, from, to }
      const own = entries().filter(({ row }) => dayIn(row.at, zone).startsWith(month))
      closed += own.length
      const ledger = await linesOf(exportLedger(parts(), { ...period, zone, profile: null }))
      const currencyOf = ({ terms }: { terms: ShopInvoice['terms'] }) => terms.fiat.currency
      expect(
        tally(
          ledger,
          (row) => row['currency'] ?? '',
          (row) => minor(row['value'] ?? '', row['currency'] ?? ''),
        ),
      ).toEqual(tally(own, currencyOf, ({ row }) => row.value))
      const { rows } = await overview.volume({ ...owner, zone, first, last })
      const figure = (name: MoneyFigure) =>
        tally(
          rows.filter((row) => row.figure === name),
          (row) => row.currency,
          (row) => row.minor,
        )
      const counted = own.filter(({ row }) => row.counted)
      const isRefund = ({ row }: (typeof own)[number]) => row.isBack
      expect(figure('received')).toEqual(
        tally(
          counted.filter((one) => !isRefund(one)),
          currencyOf,
          ({ row }) => row.value,
        ),
      )
      expect(figure('refunded')).toEqual(tally(counted.filter(isRefund), currencyOf, ({ row }) => -row.value))
      const paid = shop.filter(({ paidAt }) => paidAt !== null && dayIn(paidAt, zone).startsWith(month))
      expect(figure('price')).toEqual(tally(paid, currencyOf, ({ terms }) => terms.fiat.minor))
      const days: SettlementRow[] = []
      for await (const one of settlementDays(parts(), { ...period, zone })) days.push(...one.rows)
      const byAsset = (of: (row: (typeof days)[number]) => bigint) =>
        tally(days, ({ asset }) => asset, of).filter(([, amount]) => amount !== 0n)
      const moved = (wanted: boolean) =>
        tally(
          everyRow().filter(({ at, kind }) => at >= from && at < to && (kind === 'refund') === wanted),
          ({ asset }) => asset,
          ({ amount }) => (wanted ? -amount : amount),
        ).filter(([, amount]) => amount !== 0n)
      expect(byAsset(({ receivedBase }) => receivedBase)).toEqual(moved(false))
      expect(byAsset(({ refundedBase }) => refundedBase)).toEqual(moved(true))
      await expectMonthOfFiles({ from, to }, paid, own)
    }
    expect(closed).toBe(entries().length)
  }

  /** The files of invoices and payments by each accounting date: whose month it is, and no other. */
  async function expectMonthOfFiles(
    { from, to }: { readonly from: number; readonly to: number },
    paid: readonly ShopInvoice[],
    own: ReturnType<typeof entries>,
  ): Promise<void> {
    const open = { ...owner, createdFrom: null, createdTo: null }
    const ofInvoices = { ...open, search: null, status: null, asset: null, source: null, flag: null }
    const invoicesBy = async (by: 'paid' | 'confirmed') => {
      const rows = await linesOf(exportInvoices(parts(), { ...ofInvoices, moved: { by, from, to } }))
      return rows.map((row) => row['invoice_id'] ?? '').toSorted()
    }
    const ids = (some: readonly { terms: ShopInvoice['terms'] }[]) =>
      [...new Set(some.map(({ terms }) => terms.id))].toSorted()
    expect(await invoicesBy('paid')).toEqual(ids(paid))
    // What a person decides moves no payment, so it is no confirmation.
    const booked = own.filter(({ row }) => row.kind === 'receipt' || row.kind === 'reversal')
    expect(await invoicesBy('confirmed')).toEqual(ids(booked))
    const created = shop.filter(({ terms }) => terms.createdAt >= from && terms.createdAt < to)
    const byCreation = await linesOf(exportInvoices(parts(), { ...ofInvoices, createdFrom: from, createdTo: to }))
    expect(byCreation.map((row) => row['invoice_id'] ?? '').toSorted()).toEqual(ids(created))
    const ofPayments = { ...open, network: null, counted: null }
    for (const by of ['confirmed', 'paid'] as const) {
      const rows = await linesOf(exportPayments(parts(), { ...ofPayments, moved: { by, from, to } }))
      const expected = by === 'paid' ? paid.filter(({ expected }) => expected.length > 0) : booked
      expect([...new Set(rows.map((row) => row['invoice_id']))].toSorted()).toEqual(ids(expected))
    }
  }

  async function expectCustomers(): Promise<void> {
    for (const email of ['Ana@Example.com', 'bo@example.com']) {
      const own = shop.filter(({ terms }) => terms.customer.email?.toLowerCase() === email.toLowerCase())
      const totals = await readCustomerTotals(parts(), { ...owner, email })
      expect(totals.invoices).toBe(own.length)
      for (const one of totals.currencies) {
        const same = own.filter(({ terms }) => terms.fiat.currency === one.currency)
        const rows = same.flatMap(({ expected }) => expected)
        expect(one.received).toBe(
          sum(
            rows.filter(({ isBack }) => !isBack),
            ({ value }) => value,
          ),
        )
        expect(one.refunded).toBe(
          -sum(
            rows.filter(({ isBack }) => isBack),
            ({ value }) => value,
          ),
        )
      }
    }
  }

  /** What payers read on their receipts. */
  async function expectReceipts(): Promise<void> {
    const random = standIn<Random>({ uuid: () => workspaceId })
    await createWorkspace({ ...parts(), random }, { name: 'Shop', ownerEmail: 'owner@example.com', actor: 'test' })
    for (const { terms, expected } of shop) {
      const { books } = (await viewInvoice(parts(), terms.id)) ?? expect.fail('no receipt')
      const of = (money: { readonly value: string } | null) => minor(money?.value ?? '0', terms.fiat.currency)
      const value = (isBack: boolean) =>
        sum(
          expected.filter((row) => row.isBack === isBack),
          (row) => row.value,
        )
      expect([of(books.received), of(books.refunded)]).toEqual([value(false), -value(true)])
      expect(of(books.received) + of(books.short) - of(books.excess)).toBe(terms.fiat.minor)
      const back = expected.filter(({ kind }) => kind === 'refund')
      expect(books.refunds.map(({ at }) => at)).toEqual(back.map(({ at }) => at))
    }
  }

  const units = ({ amount, asset }: ExpectedMovement): string => {
    const { decimals } = catalog.asset(asset)
    const size = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
    const text = `${size.slice(0, -decimals)}.${size.slice(-decimals)}`.replace(/\.?0+$/, '')
    return amount < 0n ? `-${text}` : text
  }
  const fiat = (amount: bigint, currency: string): string => {
    const digits = currency === 'CLP' ? 0 : 2
    const size = (amount < 0n ? -amount : amount).toString().padStart(digits + 1, '0')
    const text = digits === 0 ? size : `${size.slice(0, -2)}.${size.slice(-2)}`
    return amount < 0n ? `-${text}` : text
  }
  const reportedOf = (currency: string, row: ExpectedMovement): bigint | null =>
    currency === REPORTING ? row.value : row.reported
})

/** Sums by key, in the order of the keys. */
function tally<T>(rows: readonly T[], keyOf: (row: T) => string, amountOf: (row: T) => bigint) {
  const sums = new Map<string, bigint>()
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0n) + amountOf(row))
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1))
}
