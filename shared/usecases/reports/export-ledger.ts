import { csvHeading, csvLine } from '#shared/contracts/csv.ts'
import { localTime } from '#shared/contracts/zone-days.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import { priceValue } from '#shared/domain/books/movements.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import { formatSignedFiat } from '#shared/domain/money/money.ts'
import {
  amountText,
  iso,
  marketCells,
  NO_RATE,
  quoteCells,
  reportingCells,
  signedUnits,
} from '#shared/usecases/reports/book-cells.ts'
import { walletFinder } from '#shared/usecases/reports/read-settlements.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { type LedgerProfile, PROFILES } from './ledger-profiles.ts'
import { LEDGER_COLUMNS, type LedgerRow } from './ledger-row.ts'
import { type Entry, type MovementScope, type MovementsDeps, readMovements } from './read-movements.ts'

/** What exporting the books needs. */
export type ExportLedgerDeps = MovementsDeps & Uses<'wallets' | 'catalog'> & { readonly reportingCurrency: FiatCode }

/** Which movements, in the local time of which zone, and in which importer's columns; null = all columns. */
export interface LedgerScope extends MovementScope {
  readonly zone: string
  readonly profile: LedgerProfile | null
}

/**
 * The lines of a CSV file of the books, oldest first, heading first: one row per movement of money, with signed amounts and values. `value` is at the
 * price's rate and `market_value` at market, both in the invoice's currency; `no rate` stands where there is none. What is not known is empty,
 * such as the network fee of a refund, which a person sends from any wallet. A profile has an importer's columns instead, and leaves out
 * corrections, which move no coin. `onRows` is called with the number of rows before they are yielded.
 */
export async function* exportLedger(
  deps: ExportLedgerDeps,
  scope: LedgerScope,
  onRows: (count: number) => void = () => undefined,
): AsyncGenerator<string> {
  const { workspaceId, mode, zone } = scope
  const profile = scope.profile === null ? null : PROFILES[scope.profile]
  const wallets = (await deps.wallets.listWallets(workspaceId)).filter((wallet) => wallet.mode === mode)
  yield profile === null ? csvHeading(LEDGER_COLUMNS) : csvLine(profile.map(({ header }) => header))
  for await (const entries of readMovements(deps, scope)) {
    const walletOf = await walletFinder(deps, mode, wallets, entries)
    const rows = entries
      .filter(({ movement }) => profile === null || movement.kind !== 'correction')
      .map((entry) => {
        const { payment } = entry.movement
        return rowOf(deps, scope, entry, payment === null ? null : walletOf(payment))
      })
    onRows(rows.length)
    yield rows
      .map((row) =>
        csvLine(
          profile === null ? LEDGER_COLUMNS.map((name) => row[name]) : profile.map(({ cell }) => cell(row, zone)),
        ),
      )
      .join('')
  }
}

function rowOf(
  deps: Pick<ExportLedgerDeps, 'catalog' | 'reportingCurrency'>,
  { mode, zone }: Pick<LedgerScope, 'mode' | 'zone'>,
  { invoice, movement }: Entry,
  wallet: Pick<Wallet, 'id'> | null,
): LedgerRow {
  const { asset, amountBase, payment, refund } = movement
  const { network, symbol, decimals } = deps.catalog.asset(asset)
  const units = (base: bigint) => signedUnits(base, decimals)
  const { terms } = invoice
  return {
    ...{
      movement_id: movement.id,
      kind: movement.kind,
      time: iso(movement.at),
      local_time: localTime(movement.at, zone),
    },
    ...{ mode, simulated: payment?.kind === 'simulated' },
    ...{ invoice_id: terms.id, invoice_number: terms.number, order_id: terms.orderId },
    ...{ description: terms.description, customer_email: terms.customer.email, customer_name: terms.customer.name },
    ...{ product_id: terms.productId, payment_link_id: terms.paymentLinkId },
    ...{ network, asset, symbol, amount: units(amountBase), amount_text: amountText(amountBase, decimals, symbol) },
    ...{ applied_amount: units(movement.appliedBase), excess_amount: units(movement.excessBase) },
    ...valuesOf(deps, { invoice, movement }),
    ...{
      fee: null,
      fee_symbol: null,
      tx_hash: payment?.txHash ?? refund?.txHash ?? null,
      output_index: payment?.outputIndex ?? null,
    },
    ...{ from_address: payment?.fromAddress ?? null, to_address: payment?.toAddress ?? refund?.address ?? null },
    wallet_id: wallet?.id ?? null,
    ...{ block_number: payment?.block?.height ?? null, block_time: iso(payment?.block?.time ?? null) },
    ...{ payment_id: payment?.id ?? null, refund_id: refund?.id ?? null },
  }
}

function valuesOf({ reportingCurrency }: Pick<ExportLedgerDeps, 'reportingCurrency'>, { invoice, movement }: Entry) {
  const { before, after, marketMinor } = movement
  const [priceRate = null, spread = null, priceTime = null, priceSources = null] = quoteCells(movement.quote)
  const [marketRate = null, marketTime = null, marketSources = null] = marketCells(movement.market)
  const rates = {
    ...{ price_rate: priceRate, spread_percent: spread, price_rate_time: priceTime, price_rate_sources: priceSources },
    ...{ market_rate: marketRate, market_rate_time: marketTime, market_rate_sources: marketSources },
  }
  const { terms } = invoice
  const { currency } = terms.fiat
  const text = (minor: bigint) => formatSignedFiat(minor, currency)
  const [reportingCode = null, rate = null, value = null] = reportingCells(terms, reportingCurrency, before, after)
  const [, , market = null] = marketMinor === null ? [] : reportingCells(terms, reportingCurrency, 0n, marketMinor)
  return {
    ...rates,
    ...{ currency, value: text(priceValue(movement)) },
    ...{ applied_value: text(movement.appliedMinor), excess_value: text(movement.excessMinor) },
    market_value: marketMinor === null ? NO_RATE : text(marketMinor),
    ...{ reporting_currency: reportingCode, reporting_rate: rate, reporting_value: value },
    reporting_market_value: market ?? NO_RATE,
  }
}
