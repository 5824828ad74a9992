import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { daysOf, isZone, lastDays } from '#shared/contracts/zone-days.ts'
import { EXCEPTION_KINDS, INVOICE_STATUSES, type Mode, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { ENDPOINT_HEALTH_STATES } from '#shared/domain/webhook/endpoint-health.ts'
import { endpointName } from '#shared/domain/webhook/endpoint-name.ts'
import { position } from '#shared/usecases/networks/chain-status.ts'
import { quantile } from '#shared/usecases/reports/read-overview.ts'
import type { AdminDeps } from '../assemble.ts'
import { router, workspaceQuery } from '../trpc.ts'
import { endpointToWire } from '../wire/endpoint-wire.ts'
import { currencyAmounts, moneyAmounts, reportedAmounts, reportedVolume } from './reported-volume.ts'

/** Further endpoints are not shown on the front page. */
const SHOWN_MAX = 20

/** One row per endpoint of this mode, and all their first attempts for a common percentile. */
async function endpointCards(
  deps: AdminDeps,
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
  since: Ms,
  now: Ms,
) {
  const { endpoints: store, deliveryReads } = deps.instance
  const endpoints = (await store.list(workspaceId, mode)).slice(0, SHOWN_MAX)
  const ids = endpoints.map(({ id }) => id)
  const [counts, healths] = await Promise.all([
    deps.overviewReads.deliveries(ids, mode, since),
    Promise.all(ids.map((id) => deliveryReads.health(id))),
  ])
  const rows = endpoints.flatMap((endpoint, index) => {
    const { made = 0, tried = 0, firstTry = 0, succeeded = 0, failed = 0, firstAttemptsMs = [] } = counts[index] ?? {}
    const found = healths[index]
    if (found === undefined) return []
    const { state, waiting, retrying, oldestDueAt } = endpointToWire(endpoint, found, null, now).health
    return {
      id: endpoint.id,
      host: endpointName(endpoint),
      state,
      ...{ made, tried, firstTry, succeeded, failed, waiting, retrying },
      firstAttemptP99Ms: quantile(firstAttemptsMs, 0.99),
      oldestDueAt: oldestDueAt !== null && oldestDueAt < now ? oldestDueAt : null,
    }
  })
  return { endpoints: rows, firstAttemptsMs: counts.flatMap(({ firstAttemptsMs }) => firstAttemptsMs) }
}

/** A custom range is at most half a year, so that it can stand beside as many days before. */
const RANGE_DAYS_MAX = 190

/** Figures for the last days, or from one day to another, both included; days are those of a time zone. */
const spanInput = z.object({
  span: z.union([
    z.literal(7),
    z.literal(14),
    z.literal(30),
    z.literal(90),
    z.strictObject({ first: z.iso.date(), last: z.iso.date() }).refine((range) => {
      const { length } = daysOf(range)
      return length > 0 && length <= RANGE_DAYS_MAX
    }, `A period has 1 to ${RANGE_DAYS_MAX} days.`),
  ]),
  zone: boundedText(60).refine(isZone, 'Not a time zone.'),
})

/** The days that are asked for. */
function rangeOf({ span, zone }: z.infer<typeof spanInput>, now: number) {
  return typeof span === 'number' ? lastDays(now, span, zone) : span
}

const count = z.int().nonnegative()
const DAY_MS = 86_400_000
const OPEN_MAX = 1_000

/** When changes were last counted; null while the figures were never complete. */
const asOf = z.number().nullable()

const volume = z.object({
  days: z.array(z.string()),
  currencies: z.array(moneyAmounts),
  /** All of it in the workspace's reporting currency, at the rates that were stored with the invoices. */
  reported: reportedAmounts,
  asOf,
})

const funnel = z.object({
  days: z.array(z.string()),
  created: count,
  coinChosen: count,
  fullAmountSeen: count,
  paid: count,
  before: z.object({ created: count, paid: count }),
  byStatus: z.array(z.object({ status: z.enum(INVOICE_STATUSES), count })),
  byDay: z.array(z.object({ created: count, paid: count, medianMs: z.number().nullable() })),
  medianMs: z.number().nullable(),
  beforeMedianMs: z.number().nullable(),
  asOf,
})

/** Deliveries since the quarter of an hour that began 24 hours ago; `waiting` and `retrying` (those of them that were tried) are of any age. */
const deliveryFigures = {
  made: count,
  tried: count,
  firstTry: count,
  succeeded: count,
  failed: count,
  waiting: count,
  retrying: count,
}
const FIGURES = Object.keys(deliveryFigures) as readonly (keyof typeof deliveryFigures)[]

const webhooks = z.object({
  endpoints: z.array(
    z.object({
      id: z.string(),
      host: z.string(),
      state: z.enum(ENDPOINT_HEALTH_STATES),
      ...deliveryFigures,
      firstAttemptP99Ms: z.number().nullable(),
      /** When the oldest waiting one fell due; null when none is due. */
      oldestDueAt: z.number().nullable(),
    }),
  ),
  ...deliveryFigures,
  firstAttemptP99Ms: z.number().nullable(),
})

const chains = z.array(
  z.object({
    network: z.enum(NETWORK_IDS),
    status: z.enum(['live', 'catching_up', 'halted', 'stuck', 'never_scanned']),
    lagBlocks: count.nullable(),
    headAgeMs: z.number().nullable(),
  }),
)

const attention = z.object({
  exceptions: z.object({
    count,
    /** True when there are more than were counted. */
    more: z.boolean(),
    oldestAt: z.number().nullable(),
    byKind: z.array(z.object({ kind: z.enum(EXCEPTION_KINDS), count })),
  }),
})

const firstSteps = z.object({
  wallet: z.boolean(),
  key: z.boolean(),
  webhook: z.boolean(),
  invoice: z.boolean(),
  paid: z.boolean(),
})

export const overviewRouter = router({
  /** Open exceptions: the first thing on the front page and the number in the navigation. */
  attention: workspaceQuery('viewer')
    .output(attention)
    .query(async ({ ctx: { deps }, input: { workspaceId, mode } }) => {
      const [counts, [oldest]] = await Promise.all([
        deps.inbox.countOpen(workspaceId, mode, OPEN_MAX),
        deps.inbox.list({ workspaceId, mode, open: true, kinds: [], limit: 1, after: null }),
      ])
      const total = [...counts.values()].reduce((sum, one) => sum + one, 0)
      const byKind = [...counts].map(([kind, many]) => ({ kind, count: many }))
      return { exceptions: { count: total, more: total >= OPEN_MAX, oldestAt: oldest?.openedAt ?? null, byKind } }
    }),

  /** What was received, refunded and paid by currency, and received by day in the reporting currency; exact sums. */
  volume: workspaceQuery('viewer')
    .input(spanInput)
    .output(volume)
    .query(async ({ ctx: { deps, workspace }, input: { workspaceId, mode, ...input } }) => {
      const range = rangeOf(input, deps.clock.now())
      const read = await deps.overview.volume({ workspaceId, mode, zone: input.zone, ...range })
      return {
        days: [...read.days],
        currencies: read.currencies.map((currency) => currencyAmounts(read, currency)),
        reported: reportedVolume(read, workspace.policy.reportingCurrency),
        asOf: read.asOf,
      }
    }),

  /** From created to paid: how many invoices of these days reached each step, and how they ended. */
  funnel: workspaceQuery('viewer')
    .input(spanInput)
    .output(funnel)
    .query(async ({ ctx: { deps }, input: { workspaceId, mode, ...input } }) => {
      const range = rangeOf(input, deps.clock.now())
      const read = await deps.overview.funnel({ workspaceId, mode, zone: input.zone, ...range })
      const total = (of: (row: (typeof read.rows)[number]) => boolean) =>
        read.rows.filter(of).reduce((sum, row) => sum + row.count, 0)
      const paid = (status: string) => status === 'paid' || status === 'overpaid'
      return {
        days: [...read.days],
        created: total(() => true),
        coinChosen: total(({ coinChosen }) => coinChosen),
        fullAmountSeen: total(({ status }) => paid(status) || status === 'confirming'),
        paid: total(({ status }) => paid(status)),
        before: read.before,
        byStatus: INVOICE_STATUSES.map((status) => ({ status, count: total((row) => row.status === status) })),
        byDay: read.days.map((day, index) => ({
          created: total((row) => row.day === day),
          paid: total((row) => row.day === day && paid(row.status)),
          medianMs: read.medianByDay[index] ?? null,
        })),
        medianMs: read.medianMs,
        beforeMedianMs: read.beforeMedianMs,
        asOf: read.asOf,
      }
    }),

  /** Health of endpoints in the last 24 hours. */
  webhooks: workspaceQuery('viewer')
    .output(webhooks)
    .query(async ({ ctx: { deps }, input: { workspaceId, mode } }) => {
      const now = deps.clock.now()
      const { endpoints, firstAttemptsMs } = await endpointCards(deps, { workspaceId, mode }, now - DAY_MS, now)
      const total = (of: keyof typeof deliveryFigures) => endpoints.reduce((sum, row) => sum + row[of], 0)
      return {
        endpoints,
        ...(Object.fromEntries(FIGURES.map((name) => [name, total(name)])) as Record<
          keyof typeof deliveryFigures,
          number
        >),
        firstAttemptP99Ms: quantile(firstAttemptsMs, 0.99),
      }
    }),

  /** How far each network's scanner is behind, in the mode of the page. */
  chains: workspaceQuery('viewer')
    .output(chains)
    .query(async ({ ctx: { deps }, input: { mode } }) => {
      const cursors = new Map((await deps.chainCursors.list()).map((cursor) => [cursor.id, cursor]))
      const now = deps.clock.now()
      return NETWORK_IDS.flatMap((network) => {
        const cursor = cursors.get(`${mode}:${network}`) ?? null
        if (cursor === null && !deps.catalog.hasNode(network, mode)) return []
        const { status, lagBlocks, headAgeMs } = position(cursor, {
          now,
          hasNode: deps.catalog.hasNode(network, mode),
          blockTimeMs: deps.catalog.blockTimeMs(network, mode),
        })
        return [{ network, status: status === 'catchup' ? ('catching_up' as const) : status, lagBlocks, headAgeMs }]
      })
    }),

  /** Steps that a new workspace has completed. */
  firstSteps: workspaceQuery('viewer')
    .output(firstSteps)
    .query(async ({ ctx: { deps }, input: { workspaceId, mode } }) => {
      const [wallets, keys, endpoints, begun] = await Promise.all([
        deps.instance.wallets.listWallets(workspaceId),
        deps.apiKeys.list(workspaceId),
        deps.instance.endpoints.list(workspaceId, mode),
        deps.overviewReads.beginnings(workspaceId, mode),
      ])
      return {
        wallet: wallets.some((wallet) => wallet.mode === mode),
        key: keys.some((key) => key.mode === mode && key.revokedAt === null),
        webhook: endpoints.length > 0,
        ...begun,
      }
    }),
})
