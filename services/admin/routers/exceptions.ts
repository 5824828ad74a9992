import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { EXCEPTION_TITLES } from '#shared/contracts/exception-labels.ts'
import { evidenceRow, worth } from '#shared/contracts/explanations.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import {
  EXCEPTION_KINDS,
  type ExceptionKind,
  isMoneyException,
  MONEY_EXCEPTION_KINDS,
} from '#shared/domain/enumerations.ts'
import { activePaymentMethod } from '#shared/domain/invoice/model.ts'
import { formatUnits } from '#shared/domain/money/money.ts'
import { type ExceptionEntry, RESOLUTIONS } from '#shared/ports/exception-decisions.ts'
import type { ExceptionRecord } from '#shared/ports/exceptions.ts'
import type { Invoice } from '#shared/ports/invoices.ts'
import { exceptionSentence } from '#shared/usecases/diagnostics/exception-sentence.ts'
import { explainException } from '#shared/usecases/diagnostics/explain-exception.ts'
import { BULK_RESOLUTIONS } from '#shared/usecases/exceptions/bulk-decision.ts'
import { closeException } from '#shared/usecases/exceptions/close-exception.ts'
import { type DecideInput, decideException, noteException } from '#shared/usecases/exceptions/decide-exception.ts'
import { decideMany } from '#shared/usecases/exceptions/decide-many.ts'
import { paymentInInbox } from '#shared/usecases/exceptions/payment-in-inbox.ts'
import { previewDecisions } from '#shared/usecases/exceptions/preview-decisions.ts'
import { likelyRefund } from '#shared/usecases/refunds/likely-refund.ts'
import type { Operation } from '#shared/usecases/requests/begin-operation.ts'
import { actionOf } from '../action.ts'
import type { AdminDeps } from '../assemble.ts'
import type { DecisionContext } from '../decider-of.ts'
import { largeShortfall } from '../large-shortfall.ts'
import { operatorMutation, operatorQuery, router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { bulkInput, bulkPreviewWire, bulkResultWire } from '../wire/bulk-wire.ts'
import { exceptionInput, exceptionToWire, exceptionWire } from '../wire/exception-wire.ts'
import { invoiceRowToWire, invoiceRowWire, pageInput, paymentToWire, paymentWire } from '../wire/money-wire.ts'
import { placeCursor, placeOf } from '../wire/place-cursor.ts'

/** Open exceptions that are counted at most. */
const COUNT_MAX = 1_000

const SYSTEM_EXCEPTIONS = EXCEPTION_KINDS.filter((kind) => !isMoneyException(kind))
const KINDS_OF: Readonly<Record<'all' | 'money' | 'system', readonly ExceptionKind[]>> = {
  all: [],
  money: MONEY_EXCEPTION_KINDS,
  system: SYSTEM_EXCEPTIONS,
}
/** A decision about money needs a reason. */
const reason = trimmedText(500).min(3, 'enter a reason')
const valueBase = boundedText(78, 'must be base units above zero').regex(
  /^[1-9]\d{0,77}$/,
  'must be base units above zero',
)

const detailWire = z.object({
  entry: exceptionWire,
  invoice: invoiceRowWire.nullable(),
  payment: paymentWire.nullable(),
  evidence: z.array(evidenceRow),
  worth: worth.nullable(),
  ways: z.array(z.enum(RESOLUTIONS)),
  valueIn: z.object({ symbol: z.string(), decimals: z.number(), due: z.string() }).nullable(),
  /** The likely refund of overpaid and late money, in units of the coin; see `suggestRefund`. */
  refund: z.object({ amount: z.string(), symbol: z.string() }).nullable(),
})

const installationWire = z.object({
  id: z.string(),
  kind: z.enum(EXCEPTION_KINDS),
  title: z.string(),
  detail: z.string(),
  openedAt: z.number(),
  closedAt: z.number().nullable(),
})
const installationToWire = ({ id, kind, detail, openedAt, closedAt }: ExceptionRecord) => ({
  ...{ id, kind, title: EXCEPTION_TITLES[kind], detail, openedAt, closedAt },
})

/** Exceptions: evidence and decisions. */
export const exceptionsRouter = router({
  list: workspaceQuery('viewer')
    .input(
      z.object({
        view: z.enum(['open', 'resolved']).default('open'),
        group: z.enum(['all', 'money', 'system']).default('all'),
        ...pageInput,
        cursor: boundedText(500).optional(),
      }),
    )
    .output(z.object({ items: z.array(exceptionWire), nextCursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const { workspaceId, mode, limit, view, group } = input
      const after = placeOf(input.cursor)
      const open = view === 'open'
      const kinds = KINDS_OF[group]
      const found = await money.decisions.list({ workspaceId, mode, open, kinds, limit: limit + 1, after })
      const page = found.slice(0, limit)
      const last = found.length > limit ? page.at(-1) : undefined
      const at = last === undefined ? null : { at: (open ? last.openedAt : last.closedAt) ?? 0, id: last.id }
      return { items: await withSentences(ctx.deps, page), nextCursor: at === null ? null : placeCursor(at) }
    }),

  counts: workspaceQuery('viewer')
    .output(
      z.object({
        ...{ all: z.number(), money: z.number(), system: z.number() },
        /** Kinds with open exceptions, most first. */
        kinds: z.array(z.object({ kind: z.enum(EXCEPTION_KINDS), title: z.string(), count: z.number() })),
      }),
    )
    .query(async ({ ctx, input }) => {
      const counts = await ctx.deps.money.decisions.countOpen(input.workspaceId, input.mode, COUNT_MAX)
      const sum = (kinds: readonly ExceptionKind[]) => kinds.reduce((total, kind) => total + (counts.get(kind) ?? 0), 0)
      const [money, system] = [sum(MONEY_EXCEPTION_KINDS), sum(SYSTEM_EXCEPTIONS)]
      const kinds = [...counts].map(([kind, count]) => ({ kind, title: EXCEPTION_TITLES[kind], count }))
      return { all: money + system, money, system, kinds: kinds.sort((left, right) => right.count - left.count) }
    }),

  get: workspaceQuery('viewer')
    .input(exceptionInput)
    .output(detailWire)
    .query(async ({ ctx, input }) => {
      const { money } = ctx.deps
      const known = await explainException(money, {
        workspace: ctx.workspace,
        mode: input.mode,
        exceptionId: input.id,
      })
      const { entry, title, sentence, invoice, ...same } = known
      const [stored] = entry.paymentKey === null ? [] : await money.payments.findByKeys([entry.paymentKey])
      return {
        ...same,
        entry: exceptionToWire(entry, { title, sentence }, invoice),
        // As in the list: the customer of another workspace's invoice is none of this one's business.
        invoice: invoice?.terms.workspaceId === input.workspaceId ? invoiceRowToWire(invoice, money) : null,
        payment: stored === undefined ? null : paymentToWire(paymentInInbox(stored, input.workspaceId), money),
        refund: await refundOf(ctx.deps, entry, invoice?.terms.workspaceId === input.workspaceId ? invoice : null),
      }
    }),

  accept: workspaceMutation('support', { worksWhile: 'suspended', stepUp: 'largeSum' })
    .input(exceptionInput.extend({ reason, valueBase: valueBase.optional() }))
    .output(exceptionWire)
    .mutation(({ ctx, input }) => decide(ctx, { ...input, resolution: 'accepted' })),

  attach: workspaceMutation('support', { worksWhile: 'suspended', stepUp: 'largeSum' })
    .input(exceptionInput.extend({ reason, invoiceId: z.uuid(), valueBase: valueBase.optional() }))
    .output(exceptionWire)
    .mutation(({ ctx, input }) => decide(ctx, { ...input, resolution: 'attached' })),

  reject: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(exceptionInput.extend({ reason }))
    .output(exceptionWire)
    .mutation(({ ctx, input }) => decide(ctx, { ...input, resolution: 'rejected' })),

  close: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(exceptionInput)
    .output(exceptionWire)
    .mutation(({ ctx, input }) => decide(ctx, { ...input, resolution: 'closed' })),

  previewMany: workspaceQuery('support')
    .input(bulkInput)
    .output(bulkPreviewWire)
    .query(async ({ ctx, input: { workspaceId, mode, ids } }) => {
      const { money } = ctx.deps
      const weigh = largeShortfall(ctx, {})
      const scope = { workspaceId, mode, exceptionIds: ids, actor: ctx.actor, weigh }
      const { entries, decisions } = await previewDecisions(money, scope)
      const rows = await withSentences(ctx.deps, entries)
      return {
        rows: rows.map(({ id, title, invoice }) => ({ id, title, number: invoice?.number ?? null })),
        decisions: decisions.map(({ sums, possible, refused, ...decision }) => ({
          ...{ ...decision, possible: [...possible], refused: [...refused] },
          sums: sums.map(({ network, ...sum }) => ({ ...sum, networkName: money.networkName(network) })),
        })),
      }
    }),

  decideMany: workspaceMutation('support', { worksWhile: 'suspended', stepUp: 'largeSum' })
    .input(bulkInput.extend({ resolution: z.enum(BULK_RESOLUTIONS), reason: reason.optional() }))
    .output(bulkResultWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, ids, resolution } = input
      if (resolution !== 'closed' && input.reason === undefined)
        throw invalid([{ path: 'reason', message: 'enter a reason' }])
      const { done, refused } = await decideMany(ctx.deps.money, {
        ...{ workspaceId, mode, exceptionIds: ids, resolution, weigh: largeShortfall(ctx, input) },
        ...{ ...actionOf(ctx, input), isDone: ctx.operation.isDone },
      })
      return { done: [...done], refused: [...refused] }
    }),

  note: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(exceptionInput.extend({ text: trimmedText(1_000).min(1) }))
    .output(exceptionWire)
    .mutation(async ({ ctx, input }) => {
      const { workspaceId, mode, id, text, opId } = input
      const entry = await noteException(ctx.deps.money, {
        workspaceId,
        mode,
        exceptionId: id,
        opId,
        actor: ctx.actor,
        text,
      })
      return await withSentence(ctx.deps, entry)
    }),

  /** Open exceptions that belong to no workspace, newest first. */
  ofInstallation: operatorQuery()
    .output(z.object({ items: z.array(installationWire) }))
    .query(async ({ ctx }) => {
      const open = await ctx.deps.money.exceptions.listOpen(null)
      return { items: open.filter(({ workspaceId }) => workspaceId === null).map(installationToWire) }
    }),

  closeOfInstallation: operatorMutation()
    .input(exceptionInput)
    .output(installationWire.extend({ changed: z.boolean() }))
    .mutation(async ({ ctx, input: { id } }) => {
      const { exception, changed } = await closeException(ctx.deps.money, {
        ...{ id, actor: ctx.actor, isDone: ctx.operation.isDone },
      })
      return { ...installationToWire(exception), changed }
    }),
})

/** Kinds whose money an operator may want to return. */
const REFUNDABLE: readonly ExceptionKind[] = ['over', 'late', 'out_of_quote', 'cancelled_paid']

async function refundOf({ money }: AdminDeps, { kind }: ExceptionEntry, invoice: Invoice | null) {
  const paymentMethod = invoice === null ? null : activePaymentMethod(invoice.state)
  if (invoice === null || paymentMethod === null || !REFUNDABLE.includes(kind)) return null
  const base = await likelyRefund(money, invoice)
  return base === 0n ? null : { amount: formatUnits(base, paymentMethod.decimals), symbol: paymentMethod.symbol }
}

async function decide(
  ctx: DecisionContext & { readonly operation: Pick<Operation, 'isDone'> },
  input: {
    readonly workspaceId: string
    readonly mode: 'live' | 'test'
    readonly id: string
    readonly opId: string
    readonly reason?: string | undefined
    readonly resolution: DecideInput['resolution']
    readonly invoiceId?: string | undefined
    readonly valueBase?: string | undefined
  },
) {
  const { workspaceId, mode, id, resolution } = input
  const entry = await decideException(ctx.deps.money, {
    workspaceId,
    mode,
    exceptionId: id,
    resolution,
    ...actionOf(ctx, input),
    isDone: ctx.operation.isDone,
    weigh: largeShortfall(ctx, input),
    ...(input.invoiceId !== undefined && { invoiceId: input.invoiceId }),
    ...(input.valueBase !== undefined && { valueBase: BigInt(input.valueBase) }),
  })
  return await withSentence(ctx.deps, entry)
}

async function withSentence(deps: AdminDeps, entry: ExceptionEntry) {
  const [shown] = await withSentences(deps, [entry])
  if (shown === undefined) throw new Error('one exception must give one row')
  return shown
}

async function withSentences({ money }: AdminDeps, entries: readonly ExceptionEntry[]) {
  const [invoices, payments] = await Promise.all([
    money.lookups.findMany([...new Set(entries.flatMap(({ invoiceId }) => invoiceId ?? []))]),
    money.payments.findByKeys([...new Set(entries.flatMap(({ paymentKey }) => paymentKey ?? []))]),
  ])
  const byKey = new Map(payments.map((payment) => [payment.key, payment]))
  return entries.map((entry) => {
    const invoice = invoices.get(entry.invoiceId ?? '') ?? null
    const stored = byKey.get(entry.paymentKey ?? '') ?? null
    const payment = stored === null ? null : paymentInInbox(stored, entry.workspaceId ?? '')
    const sentence = exceptionSentence({ entry, invoice, payment, catalog: money.catalog })
    return exceptionToWire(entry, { title: EXCEPTION_TITLES[entry.kind], sentence }, invoice)
  })
}
