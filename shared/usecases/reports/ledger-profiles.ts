import type { Cell } from '#shared/usecases/reports/book-cells.ts'
import { NO_RATE } from '#shared/usecases/reports/book-cells.ts'
import type { LedgerRow } from './ledger-row.ts'

/** Programs whose import formats the ledger is written in. */
export const LEDGER_PROFILES = ['koinly', 'cointracking', 'xero', 'quickbooks'] as const
export type LedgerProfile = (typeof LEDGER_PROFILES)[number]

/** A column of an importer, and what it takes from a row of the ledger. */
interface ProfileColumn {
  readonly header: string
  readonly cell: (row: LedgerRow, zone: string) => Cell
}

const text = (cell: Cell): string => (cell === null ? '' : String(cell))
const isOut = (row: LedgerRow): boolean => text(row.amount).startsWith('-')
const size = (amount: Cell): string => text(amount).replace(/^-/, '')
/** `2026-11-19 14:31:05`. */
const utc = (row: LedgerRow): string => text(row.time).slice(0, 19).replace('T', ' ')
const known = (value: Cell): Cell => (value === NO_RATE ? null : value)
/** A day of the workspace's zone in an order of year, month and day. */
const localDay = (row: LedgerRow, order: (year: string, month: string, day: string) => string): string => {
  const [year = '', month = '', day = ''] = text(row.local_time).slice(0, 10).split('-')
  return order(year, month, day)
}
/** A bank statement has no line without an amount: one without a rate says so, and is 0. */
const statement = (value: Cell): Cell => (value === NO_RATE ? '0.00' : value)
const about = (row: LedgerRow): string =>
  [
    // An importer has no column for the mode, and coins of a test network carry the names of real ones.
    ...(row.mode === 'test' ? ['TEST'] : []),
    ...(row.reporting_market_value === NO_RATE ? ['NO RATE'] : []),
    `${text(row.kind)} ${text(row.amount_text)}`,
    `invoice ${text(row.invoice_number)}`,
    ...(row.order_id === null ? [] : [`order ${text(row.order_id)}`]),
  ].join(' ')

/**
 * The import formats, as their makers describe them (read 2026-11-29): Koinly's simple template, UTC, negative amounts go out
 * (support.koinly.io, article 9489976); CoinTracking's CSV import with its optional Tx-ID; Xero's bank statement template; QuickBooks Online's
 * three columns without special characters (quickbooks.intuit.com, L4BjLWckq). Values are at market: in the invoice's currency where a
 * column names it, otherwise in the workspace's reporting currency, which is that of the bank account to import into.
 */
export const PROFILES: Readonly<Record<LedgerProfile, readonly ProfileColumn[]>> = {
  koinly: [
    { header: 'Koinly Date', cell: (row) => `${utc(row)} UTC` },
    { header: 'Amount', cell: (row) => row.amount },
    { header: 'Currency', cell: (row) => row.symbol },
    { header: 'Net Worth Amount', cell: (row) => size(known(row.market_value)) },
    { header: 'Net Worth Currency', cell: (row) => (row.market_value === NO_RATE ? null : row.currency) },
    { header: 'Description', cell: about },
    { header: 'TxHash', cell: (row) => row.tx_hash },
  ],
  cointracking: [
    { header: 'Type', cell: (row) => (row.kind === 'receipt' ? 'Income' : row.kind === 'refund' ? 'Spend' : 'Lost') },
    { header: 'Buy Amount', cell: (row) => (isOut(row) ? null : row.amount) },
    { header: 'Buy Currency', cell: (row) => (isOut(row) ? null : row.symbol) },
    { header: 'Sell Amount', cell: (row) => (isOut(row) ? size(row.amount) : null) },
    { header: 'Sell Currency', cell: (row) => (isOut(row) ? row.symbol : null) },
    { header: 'Fee', cell: (row) => row.fee },
    { header: 'Fee Currency', cell: (row) => row.fee_symbol },
    { header: 'Exchange', cell: (row) => `Paymesh ${text(row.network)}` },
    { header: 'Trade-Group', cell: (row) => (row.mode === 'test' ? 'test' : null) },
    { header: 'Comment', cell: about },
    { header: 'Date', cell: utc },
    { header: 'Tx-ID', cell: (row) => row.tx_hash },
  ],
  xero: [
    { header: '*Date', cell: (row) => localDay(row, (year, month, day) => `${day}/${month}/${year}`) },
    { header: '*Amount', cell: (row) => statement(row.reporting_market_value) },
    { header: 'Payee', cell: (row) => row.customer_name ?? row.customer_email },
    { header: 'Description', cell: about },
    { header: 'Reference', cell: (row) => row.order_id ?? row.invoice_number },
    { header: 'Check Number', cell: () => null },
  ],
  quickbooks: [
    { header: 'Date', cell: (row) => localDay(row, (year, month, day) => `${month}/${day}/${year}`) },
    {
      header: 'Description',
      cell: (row) =>
        about(row)
          .replaceAll('−', '-')
          .replace(/[^A-Za-z0-9 .#_-]/g, ' ')
          .slice(0, 250),
    },
    { header: 'Amount', cell: (row) => statement(row.reporting_market_value) },
  ],
}
