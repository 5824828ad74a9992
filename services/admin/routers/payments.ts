import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import { requireOwnInvoice } from '#shared/usecases/diagnostics/explain-question.ts'
import { operatorPaymentSearch } from '#shared/usecases/diagnostics/payment-search.ts'
import { attachByHand } from '#shared/usecases/exceptions/attach-by-hand.ts'
import { countPayment } from '#shared/usecases/invoices/count-payment.ts'
import type { WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'
import type { AdminDeps } from '../assemble.ts'
import { largeShortfall } from '../large-shortfall.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { paymentFilters, periodOf } from '../wire/list-filters.ts'
import { invoiceRowToWire, orderInput, pageInput, paymentToWire, paymentWire } from '../wire/money-wire.ts'

const attachInput = z.object({
  paymentId: z.uuid(),
  invoiceId: z.uuid(),
  /** Base units of the invoice's asset; required when the payment is in another one. */
  valueBase: boundedText(78, 'must be base units above zero')
    .regex(/^[1-9]\d{0,77}$/, 'must be base units above zero')
    .optional(),
})
const attachedWire = z.object({
  invoiceId: z.string(),
  number: z.number(),
  statusBefore: z.enum(INVOICE_STATUSES),
  status: z.enum(INVOICE_STATUSES),
  underpaidAccepted: z.boolean(),
  valueBase: z.string(),
  changed: z.boolean(),
  orderId: z.string().nullable(),
  customer: z.string().nullable(),
  /** What the invoice asks for, in units of its coin; null while it has none. */
  due: z.object({ amount: z.string(), symbol: z.string() }).nullable(),
  /** Who rejected the payment and may have returned it. */
  rejected: z.object({ by: z.string(), at: z.number() }).nullable(),
})

/** Payments of a workspace, and attaching one to an invoice. */
export const paymentsRouter = router({
  list: workspaceQuery('viewer')
    .input(z.object({ ...paymentFilters, ...orderInput, ...pageInput }))
    .output(
      z.object({
        items: z.array(paymentWire.extend({ invoiceNumber: z.number().nullable() })),
        nextCursor: z.string().nullable(),
      }),
    )
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, q, network, counted, by, from, to, order, limit } = input
      const filters = { network: network ?? undefined, q, by, order }
      const scope = { list: 'operator-payments', workspaceId, mode, filters }
      const { payments, next } = await money.paymentLookups.page({
        ...{ workspaceId, mode, network, counted, order, limit, ...periodOf({ by, from, to }) },
        search: q === '' ? null : await operatorPaymentSearch(money, { workspaceId, mode, text: q }),
        beforeId: input.cursor === undefined ? null : money.listCursor.decode(scope, input.cursor),
      })
      const invoices = await money.lookups.findMany([...new Set(payments.flatMap(({ invoiceId }) => invoiceId ?? []))])
      return {
        items: payments.map((payment) => ({
          ...paymentToWire(payment, money),
          invoiceNumber: invoices.get(payment.invoiceId ?? '')?.terms.number ?? null,
        })),
        nextCursor: next === null ? null : money.listCursor.encode(scope, next),
      }
    }),

  /** The effect of attaching; changes nothing. */
  previewAttach: workspaceQuery('support')
    .input(attachInput)
    .output(attachedWire)
    .query(({ ctx, input }) => attach(ctx, input, null)),

  attach: workspaceMutation('support', { worksWhile: 'suspended', stepUp: 'largeSum' })
    .input(
      attachInput.extend({
        reason: trimmedText(500).min(3, 'enter a reason'),
        /** Needed for a payment that somebody rejected: the person says that it was not returned to the customer. */
        notReturned: z.boolean().optional(),
      }),
    )
    .output(attachedWire)
    .mutation(({ ctx, input }) => attach(ctx, input, largeShortfall(ctx, input))),

  /** Counts a confirmed dust payment with its own amount. */
  count: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(z.object({ paymentId: z.uuid(), reason: trimmedText(500).min(3, 'enter a reason') }))
    .output(z.object({ invoiceId: z.string(), status: z.enum(INVOICE_STATUSES) }))
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, paymentId, reason } = input
      const { terms, state } = await countPayment(ctx.deps.money, {
        ...{ workspaceId, mode, paymentId, reason },
        actor: ctx.actor,
      })
      return { invoiceId: terms.id, status: state.status }
    }),
})

async function attach(
  { deps: { money }, actor }: { readonly deps: AdminDeps; readonly actor: string },
  input: z.output<typeof attachInput> & {
    readonly workspaceId: string
    readonly mode: 'live' | 'test'
    readonly reason?: string
    readonly notReturned?: boolean | undefined
  },
  /** Null previews it. */
  weigh: WeighAcceptance | null,
): Promise<z.output<typeof attachedWire>> {
  const { workspaceId, mode, invoiceId, paymentId, valueBase, reason } = input
  await requireOwnInvoice(money, { workspaceId, mode, invoiceId })
  const value = valueBase === undefined ? null : BigInt(valueBase)
  const attribution = { actor, ...(reason !== undefined && { reason }) }
  const decision = weigh === null ? { dryRun: true } : { dryRun: false, weigh }
  const notReturned = input.notReturned === true
  const about = { workspaceId, paymentId, invoiceId, valueBase: value, notReturned }
  const done = await attachByHand(money, { ...about, ...decision, ...attribution })
  const { terms, state } = done.invoice
  const { coins } = invoiceRowToWire(done.invoice, money)
  return {
    invoiceId: terms.id,
    number: terms.number,
    statusBefore: done.statusBefore,
    status: state.status,
    underpaidAccepted: state.underpaidAccepted,
    valueBase: done.valueBase.toString(),
    changed: done.changed,
    orderId: terms.orderId,
    customer: terms.customer.name ?? terms.customer.email,
    due: coins === null ? null : { amount: coins.due, symbol: coins.symbol },
    rejected: done.rejected,
  }
}
