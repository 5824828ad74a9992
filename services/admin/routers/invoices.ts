import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { timelineEntry } from '#shared/contracts/explanations.ts'
import { invoiceCreateBody } from '#shared/contracts/http/invoice-create.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { ASSET_IDS, INVOICE_STATUSES } from '#shared/domain/enumerations.ts'
import { suggestRefund } from '#shared/domain/invoice/suggest-refund.ts'
import { refundableAssets } from '#shared/domain/payment/refundable.ts'
import { ledgerKeys } from '#shared/ports/invoices.ts'
import { explainInvoice } from '#shared/usecases/diagnostics/explain-invoice.ts'
import { requireOwnInvoice } from '#shared/usecases/diagnostics/explain-question.ts'
import { invoiceTimeline } from '#shared/usecases/diagnostics/invoice-timeline.ts'
import { listInvoicesForOperators } from '#shared/usecases/diagnostics/list-invoices-for-operators.ts'
import { operatorSearch } from '#shared/usecases/diagnostics/operator-search.ts'
import { cancelByHand } from '#shared/usecases/invoices/cancel-by-hand.ts'
import { createInvoiceByHand } from '#shared/usecases/invoices/create-invoice-by-hand.ts'
import { noteInvoice } from '#shared/usecases/invoices/note-invoice.ts'
import { simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { eraseCustomer } from '#shared/usecases/maintenance/erase-customer.ts'
import { listCurrencies } from '#shared/usecases/quotes/availability.ts'
import { bodyFingerprint } from '#shared/usecases/requests/idempotency-scope.ts'
import { actionOf } from '../action.ts'
import type { AdminDeps } from '../assemble.ts'
import { mergeRouters, router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { invoiceDetailToWire, invoiceDetailWire, noteToWire, noteWire } from '../wire/invoice-wire.ts'
import { invoiceFilters, periodFilters, periodOf } from '../wire/list-filters.ts'
import { invoiceRowToWire, invoiceRowWire, orderInput, pageInput } from '../wire/money-wire.ts'
import { refundableToWire, refundToWire } from '../wire/refund-wire.ts'
import { refundsRouter } from './refunds.ts'

/** The same fields as in the REST API; its rules check the content. */
const fields = z.strictObject({
  amount: boundedText(40),
  currency: boundedText(3),
  description: boundedText(500).optional(),
  order_id: boundedText(120).optional(),
  asset: boundedText(40).optional(),
  customer: z.strictObject({ email: boundedText(254).optional(), name: boundedText(200).optional() }).optional(),
  expires_in: z.number().optional(),
})

/** Manual creation of an invoice. */
const createByHandRouter = router({
  create: workspaceMutation('support', { worksWhile: 'active' })
    .input(z.object({ invoice: fields }))
    .output(z.object({ id: z.string(), number: z.number(), checkoutUrl: z.string() }))
    .mutation(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { mode, opId } = input
      const invoice = await createInvoiceByHand(money, {
        workspace: ctx.workspace,
        mode,
        body: validate(invoiceCreateBody[mode], input.invoice),
        opId,
        attribution: { by: ctx.actor, ...(input.reason !== undefined && { reason: input.reason }) },
        fingerprint: bodyFingerprint(Buffer.from(JSON.stringify(input.invoice), 'utf8')),
        requestId: ctx.requestId,
      })
      const { id, number } = invoice.terms
      return { id, number, checkoutUrl: `${money.urls.checkoutBaseUrl}/i/${id}` }
    }),
})

/** Maximum count; pages show "10,000+". */
const COUNT_MAX = 10_000

const about = z.object({ id: z.uuid() })

const reads = router({
  list: workspaceQuery('viewer')
    .input(z.object({ ...invoiceFilters, ...orderInput, ...pageInput }))
    .output(
      z.object({ items: z.array(invoiceRowWire.extend({ whatNow: z.string() })), nextCursor: z.string().nullable() }),
    )
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, q, by, from, to, cursor, status, asset, source, flag, order, limit } = input
      const filters = { status: status ?? undefined, q, by, from: from ?? undefined, to: to ?? undefined, order }
      const scope = { list: 'operator-invoices', workspaceId, mode, filters }
      const { rows, next } = await listInvoicesForOperators(money, {
        ...{ workspaceId, mode, status, asset, source, flag, order, limit, ...periodOf({ by, from, to }) },
        search: q === '' ? null : await operatorSearch(money, { workspaceId, mode, text: q }),
        beforeId: cursor === undefined ? null : money.listCursor.decode(scope, cursor),
      })
      return {
        items: rows.map(({ invoice, whatNow }) => ({ ...invoiceRowToWire(invoice, money), whatNow })),
        nextCursor: next === null ? null : money.listCursor.encode(scope, next),
      }
    }),

  counts: workspaceQuery('viewer')
    .input(z.object(periodFilters))
    .output(z.object({ byStatus: z.record(z.enum(INVOICE_STATUSES), z.number()), max: z.number() }))
    .query(async ({ ctx, input }) => {
      const { workspaceId, mode, from, to } = input
      const scope = { workspaceId, mode, createdFrom: from, createdTo: to }
      const counts = await ctx.deps.money.lookups.countByStatus(scope, COUNT_MAX)
      const byStatus = Object.fromEntries(INVOICE_STATUSES.map((status) => [status, counts.get(status) ?? 0]))
      return { byStatus: byStatus as Record<(typeof INVOICE_STATUSES)[number], number>, max: COUNT_MAX }
    }),

  get: workspaceQuery('viewer')
    .input(about)
    .output(invoiceDetailWire)
    .query(({ ctx, input }) => detail(ctx.deps, input)),

  timeline: workspaceQuery('viewer')
    .input(about)
    .output(z.array(timelineEntry))
    .query(async ({ ctx, input }) => {
      const { workspaceId, mode, id } = input
      return [...(await invoiceTimeline(ctx.deps.money, { workspaceId, mode, invoiceId: id }))]
    }),

  /** Assets that an invoice can use, and why not the others. */
  assets: workspaceQuery('viewer')
    .output(
      z.array(
        z.object({
          id: z.enum(ASSET_IDS),
          symbol: z.string(),
          networkName: z.string(),
          unavailable: z.string().nullable(),
        }),
      ),
    )
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const currencies = await listCurrencies(money, { workspace: ctx.workspace, mode: input.mode })
      return currencies.map(({ id, symbol, network, unavailable_reason: unavailable }) => {
        return { id, symbol, networkName: money.networkName(network), unavailable }
      })
    }),
})

const operations = router({
  cancel: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(about)
    .output(invoiceDetailWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, id, opId, reason } = input
      const attribution = { by: ctx.actor, ...(reason !== undefined && { reason }) }
      await cancelByHand(ctx.deps.money, { workspaceId, mode, invoiceId: id, opId: `operator:${opId}`, attribution })
      return await detail(ctx.deps, input)
    }),

  simulate: workspaceMutation('support', { worksWhile: 'restricted' })
    .input(about.extend({ scenario: z.enum(['paid', 'partial', 'overpaid', 'expired']) }))
    .output(invoiceDetailWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, id, opId, scenario, reason } = input
      const attribution = { by: ctx.actor, ...(reason !== undefined && { reason }) }
      const operation = { workspaceId, mode, invoiceId: id, scenario, opId: `operator:${opId}`, attribution }
      await simulatePayment(ctx.deps.money, operation)
      return await detail(ctx.deps, input)
    }),

  addNote: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(about.extend({ text: trimmedText(1_000).min(1, 'enter a note') }))
    .output(z.array(noteWire))
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, id, opId, text } = input
      const note = { workspaceId, mode, invoiceId: id, opId, actor: ctx.actor, text }
      return (await noteInvoice(ctx.deps.money, note)).map(noteToWire)
    }),

  eraseCustomer: workspaceMutation('admin', { worksWhile: 'suspended', stepUp: 'live' })
    .input(about.extend({ reason: trimmedText(500).min(3, 'enter a reason') }))
    .output(invoiceDetailWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, id } = input
      await eraseCustomer(ctx.deps.money, { workspaceId, mode, invoiceId: id, ...actionOf(ctx, input) })
      return await detail(ctx.deps, input)
    }),
})

/** Invoices: search, details, creation, ending, refunds and erasure. */
export const invoicesRouter = mergeRouters(reads, operations, createByHandRouter, refundsRouter)

async function detail(
  { money }: AdminDeps,
  { workspaceId, mode, id }: { readonly workspaceId: string; readonly mode: 'live' | 'test'; readonly id: string },
) {
  const invoice = await requireOwnInvoice(money, { workspaceId, mode, invoiceId: id })
  const [known, payments, refunds, notes] = await Promise.all([
    explainInvoice(money, id),
    money.payments.listShown(id, ledgerKeys(invoice)),
    money.refunds.listByInvoice(id),
    money.invoiceNotes.list(id),
  ])
  return invoiceDetailToWire(invoice, invoiceRowToWire(invoice, money), {
    known,
    payments,
    notes,
    refunds: refunds.map((refund) => refundToWire(refund, money)),
    refundSuggestion: suggestRefund(invoice.state, payments, refunds),
    refundable: refundableToWire(refundableAssets(payments, refunds), money),
    names: money,
    checkoutBaseUrl: money.urls.checkoutBaseUrl,
  })
}
