import { z } from 'zod'
import { ASSET_IDS, FIAT_CODES } from '#shared/domain/enumerations.ts'
import { formatFiat, formatUnits } from '#shared/domain/money/money.ts'

import { requireOwnInvoice } from '#shared/usecases/diagnostics/explain-question.ts'
import { listInvoicesForOperators } from '#shared/usecases/diagnostics/list-invoices-for-operators.ts'
import { customerQuery, readCustomerTotals } from '#shared/usecases/reports/read-customer.ts'
import type { AdminDeps } from '../assemble.ts'
import { router, workspaceQuery } from '../trpc.ts'
import { invoiceRowToWire, invoiceRowWire, pageInput, paymentToWire, paymentWire } from '../wire/money-wire.ts'

/** Any invoice of the customer: a person's address stands in no URL. */
const about = z.object({ id: z.uuid() })
const count = z.int().nonnegative()

/** A customer: everyone whose invoices carry the e-mail address of this invoice. */
export const customersRouter = router({
  /** Who they are and what they paid. `totals` is null without an e-mail address, by which invoices are matched. */
  get: workspaceQuery('viewer')
    .input(about)
    .output(
      z.object({
        email: z.string().nullable(),
        name: z.string().nullable(),
        number: z.number(),
        totals: z
          .object({
            invoices: count,
            complete: z.boolean(),
            currencies: z.array(
              z.object({
                currency: z.enum(FIAT_CODES),
                count,
                amount: z.string(),
                paidCount: count,
                price: z.string(),
                short: z.string(),
                excess: z.string(),
                received: z.string(),
                refunded: z.string(),
              }),
            ),
            coins: z.array(
              z.object({
                asset: z.enum(ASSET_IDS),
                symbol: z.string(),
                networkName: z.string(),
                invoices: count,
                confirmed: z.string(),
                refunded: z.string().nullable(),
              }),
            ),
          })
          .nullable(),
      }),
    )
    .query(async ({ ctx: { deps }, input }) => {
      const { money } = deps
      const { terms } = await ownInvoice(deps, input)
      const { email, name } = terms.customer
      if (email === null) return { email, name, number: terms.number, totals: null }
      const totals = await readCustomerTotals(money, { workspaceId: input.workspaceId, mode: input.mode, email })
      return {
        ...{ email, name, number: terms.number },
        totals: {
          ...{ invoices: totals.invoices, complete: totals.complete },
          currencies: totals.currencies.map((sum) => ({
            ...{ currency: sum.currency, count: sum.count, paidCount: sum.paidCount },
            amount: formatFiat(sum.minor, sum.currency),
            price: formatFiat(sum.price, sum.currency),
            short: formatFiat(sum.short, sum.currency),
            excess: formatFiat(sum.excess, sum.currency),
            received: formatFiat(sum.received, sum.currency),
            refunded: formatFiat(sum.refunded, sum.currency),
          })),
          coins: totals.coins.map(({ asset, invoices, confirmedBase, refundedBase }) => {
            const { symbol, network, decimals } = money.catalog.asset(asset)
            const confirmed = formatUnits(confirmedBase, decimals)
            const refunded = refundedBase === 0n ? null : formatUnits(refundedBase, decimals)
            return { asset, symbol, networkName: money.networkName(network), invoices, confirmed, refunded }
          }),
        },
      }
    }),

  /** Their invoices, newest first, with every payment of those on the page. */
  invoices: workspaceQuery('viewer')
    .input(about.extend(pageInput))
    .output(
      z.object({
        items: z.array(invoiceRowWire.extend({ whatNow: z.string() })),
        payments: z.array(paymentWire.extend({ invoiceNumber: z.number().nullable() })),
        nextCursor: z.string().nullable(),
      }),
    )
    .query(async ({ ctx: { deps }, input }) => {
      const { money } = deps
      const { workspaceId, mode, cursor, limit } = input
      const { email } = (await ownInvoice(deps, input)).terms.customer
      if (email === null) return { items: [], payments: [], nextCursor: null }
      const scope = { list: 'customer-invoices', workspaceId, mode, filters: { email } }
      const after = cursor === undefined ? null : money.listCursor.decode(scope, cursor)
      const query = customerQuery({ workspaceId, mode, email }, limit, after)
      const { rows, next } = await listInvoicesForOperators(money, query)
      const payments = await money.paymentLookups.ofInvoices(rows.map(({ invoice }) => invoice.terms.id))
      const numbers = new Map(rows.map(({ invoice: { terms } }) => [terms.id, terms.number]))
      return {
        items: rows.map(({ invoice, whatNow }) => ({ ...invoiceRowToWire(invoice, money), whatNow })),
        payments: payments.toReversed().map((payment) => ({
          ...paymentToWire(payment, money),
          invoiceNumber: numbers.get(payment.invoiceId ?? '') ?? null,
        })),
        nextCursor: next === null ? null : money.listCursor.encode(scope, next),
      }
    }),
})

async function ownInvoice(
  { money }: AdminDeps,
  { workspaceId, mode, id }: { readonly workspaceId: string; readonly mode: 'live' | 'test'; readonly id: string },
) {
  return await requireOwnInvoice(money, { workspaceId, mode, invoiceId: id })
}
