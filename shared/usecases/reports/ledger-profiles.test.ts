import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine } from '#shared/contracts/csv.ts'
import { type Cell, NO_RATE } from './book-cells.ts'
import { LEDGER_PROFILES, type LedgerProfile, PROFILES } from './ledger-profiles.ts'
import { LEDGER_COLUMNS, type LedgerRow } from './ledger-row.ts'

/** What a maker documents about a column: the whole of a cell must match. */
interface DocumentedColumn {
  readonly header: string
  readonly form: RegExp
}

const AMOUNT = String.raw`(0|[1-9]\d*)(\.\d+)?`
const column = (header: string, form: string): DocumentedColumn => ({ header, form: new RegExp(`^(?:${form})$`, 'su') })
const ANY = '.*'
const TICKER = '[A-Z0-9]{2,10}'

/**
 * The formats as their makers document them, with the address that was read on 2026-11-29, and a row of each maker's own sample, to show
 * that these patterns take what the maker shows.
 */
const DOCUMENTED: Readonly<Record<LedgerProfile, { columns: readonly DocumentedColumn[]; sample: readonly string[] }>> =
  {
    // https://support.koinly.io/en/articles/9489976: simple template; times in UTC, amounts that go out are negative.
    koinly: {
      columns: [
        column('Koinly Date', String.raw`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)? UTC`),
        column('Amount', `-?${AMOUNT}`),
        column('Currency', TICKER),
        column('Net Worth Amount', `|${AMOUNT}`),
        column('Net Worth Currency', `|[A-Z]{3}`),
        column('Description', ANY),
        column('TxHash', ANY),
      ],
      sample: ['2018-01-01 14:25 UTC', '-20', 'BTC', '', '', 'Sent to a friend', ''],
    },
    // https://cointracking.info/import/import_csv: amounts are positive, type decides the side; a row has at least one of both.
    cointracking: {
      columns: [
        column('Type', 'Trade|Deposit|Withdrawal|Income|Spend|Lost|Mining|Gift|Stolen'),
        column('Buy Amount', `|${AMOUNT}`),
        column('Buy Currency', `|${TICKER}`),
        column('Sell Amount', `|${AMOUNT}`),
        column('Sell Currency', `|${TICKER}`),
        column('Fee', `|${AMOUNT}`),
        column('Fee Currency', `|${TICKER}`),
        column('Exchange', ANY),
        column('Trade-Group', ANY),
        column('Comment', ANY),
        column('Date', String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`),
        column('Tx-ID', ANY),
      ],
      sample: ['Income', '1.5', 'BTC', '', '', '', '', 'Shop', '', 'a sale', '2024-01-31 09:00:00', ''],
    },
    // Xero's bank statement template: marked columns are required, days first, one signed amount.
    xero: {
      columns: [
        column('*Date', String.raw`\d\d/\d\d/\d{4}`),
        column('*Amount', `-?${AMOUNT}`),
        column('Payee', ANY),
        column('Description', ANY),
        column('Reference', ANY),
        column('Check Number', ''),
      ],
      sample: ['31/01/2024', '-1450.00', 'Landlord', 'Office rent', 'RENT-0104', ''],
    },
    // https://quickbooks.intuit.com/learn-support/…/L4BjLWckq: these three columns in this order, no special characters.
    quickbooks: {
      columns: [
        column('Date', String.raw`\d{1,2}/\d{1,2}/\d{4}`),
        column('Description', '[A-Za-z0-9 .#_-]+'),
        column('Amount', `-?${AMOUNT}`),
      ],
      sample: ['1/1/2018', 'Example of a payment', '-100.00'],
    },
  }

const amount = fc
  .tuple(fc.constantFrom('', '-'), fc.bigInt(1n, 10n ** 24n), fc.nat({ max: 18 }))
  .map(([sign, base, decimals]) => {
    const digits = base.toString().padStart(decimals + 1, '0')
    return `${sign}${digits.slice(0, digits.length - decimals)}${decimals === 0 ? '' : `.${digits.slice(-decimals)}`}`
  })
const fiat = fc.oneof(
  fc.constant(NO_RATE),
  fc
    .tuple(fc.constantFrom('', '-'), fc.nat({ max: 10 ** 9 }))
    .map(([sign, cents]) => `${sign}${(cents / 100).toFixed(2)}`),
)
const hostile = fc.oneof(
  fc.constant(null),
  fc.constantFrom('=1+1', '@SUM(A1)', '-2+3', 'Ünal "Ö", الاسم', 'two\nlines', '\t=cmd'),
  fc.string(),
)

const ledgerRow: fc.Arbitrary<LedgerRow> = fc
  .record({
    kind: fc.constantFrom('receipt', 'refund', 'reversal'),
    at: fc.date({ min: new Date('2020-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
    amount,
    value: fiat,
    name: hostile,
    order: hostile,
  })
  .map(({ kind, at, amount: size, value, name, order }) => {
    const known: Partial<Record<(typeof LEDGER_COLUMNS)[number], Cell>> = {
      ...{ kind, amount: size, amount_text: `${size} USDT`, symbol: 'USDT', currency: 'EUR', mode: 'live' },
      ...{ time: at.toISOString(), local_time: at.toISOString().replace('Z', '+00:00'), network: 'ethereum' },
      ...{ market_value: value, reporting_market_value: value, customer_name: name, order_id: order },
      ...{ invoice_number: '7', tx_hash: `0x${'ab'.repeat(32)}` },
    }
    return Object.fromEntries(LEDGER_COLUMNS.map((name) => [name, known[name] ?? null])) as LedgerRow
  })

/** Cells of one line of a CSV file (RFC 4180). */
function cellsOf(line: string): readonly string[] {
  const cells = [...line.replace(/\r?\n$/, '').matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/gs)]
  return cells.map(([, quoted, bare]) => (quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"')))
}

describe.each(LEDGER_PROFILES)('the file for %s', (profile) => {
  const { columns, sample } = DOCUMENTED[profile]

  it('has the documented columns, whose patterns take the sample of the maker', () => {
    expect(PROFILES[profile].map(({ header }) => header)).toEqual(columns.map(({ header }) => header))
    expect(sample.map((cell, at) => columns[at]?.form.test(cell))).toEqual(columns.map(() => true))
  })

  // Guarantee: whatever an order, a customer or an amount is, each cell of each row has the documented form.
  it('has cells of the documented forms', () => {
    fc.assert(
      fc.property(ledgerRow, (row) => {
        const cells = cellsOf(csvLine(PROFILES[profile].map(({ cell }) => cell(row, 'UTC'))))
        expect(cells.length).toBe(columns.length)
        for (const [at, { header, form }] of columns.entries()) expect(cells[at], header).toMatch(form)
      }),
      { numRuns: 500 },
    )
  })
})

// Money: coins of a test network carry the names of real ones; no importer has a column for the mode.
it.each(LEDGER_PROFILES)('%s is told of money in test mode, and only then', (profile) => {
  fc.assert(
    fc.property(ledgerRow, (one) => {
      const words = (mode: string) =>
        PROFILES[profile].find(({ header }) => /^(Description|Comment)$/.test(header))?.cell({ ...one, mode }, 'UTC')
      expect([words('test'), words('live')].map((text) => String(text).startsWith('TEST '))).toEqual([true, false])
    }),
    { numRuns: 20 },
  )
})

// Guarantee: what goes out is negative, or on the side of what is sold, in every file.
it.each(['12.5', '-12.5'])('%s keeps its side', (size) => {
  fc.assert(
    fc.property(ledgerRow, (one) => {
      const row: LedgerRow = { ...one, amount: size, reporting_market_value: size.replace('12.5', '40.00') }
      const of = (profile: LedgerProfile, header: string): Cell =>
        PROFILES[profile].find((each) => each.header === header)?.cell(row, 'UTC') ?? null
      const isOut = size.startsWith('-')
      expect(of('koinly', 'Amount')).toBe(size)
      expect([of('cointracking', 'Buy Amount'), of('cointracking', 'Sell Amount')]).toEqual(
        isOut ? [null, '12.5'] : ['12.5', null],
      )
      expect([of('xero', '*Amount'), of('quickbooks', 'Amount')].map(String)).toEqual(
        isOut ? ['-40.00', '-40.00'] : ['40.00', '40.00'],
      )
    }),
    { numRuns: 50 },
  )
})
