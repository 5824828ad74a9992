import { z } from 'zod'
import { trimmedText } from '#shared/contracts/bounded-text.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { nodeCostReport } from '#shared/contracts/node-costs.ts'
import { ASSET_IDS, MODES, NETWORK_IDS } from '#shared/domain/enumerations.ts'
import { CHAIN_COMMAND_KINDS } from '#shared/ports/chain-commands.ts'
import { type ScanPlan, scanPlans } from '#shared/usecases/diagnostics/scan-plans.ts'
import { chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { lagMarkMs } from '#shared/usecases/networks/network-lag.ts'
import { nodeCosts } from '#shared/usecases/networks/node-costs.ts'
import { planRelease, releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { STUCK_CAUSES } from '#shared/usecases/networks/stuck-network.ts'
import { derivedUuid } from '#shared/usecases/requests/begin-operation.ts'
import { previewRescan } from '#shared/usecases/scanning/preview-rescan.ts'
import {
  type ChainPlan,
  type CommandInput,
  cancelChainCommands,
  requestCommand,
} from '#shared/usecases/scanning/request-chain-command.ts'
import type { AdminDeps } from '../assemble.ts'
import { operatorMutation, operatorQuery, router } from '../trpc.ts'

const scanMode = z.enum(['full', 'thrifty'])

/** How a network is scanned, for whom, and when its node is asked next: a `ScanPlan`. Times are Unix milliseconds. */
const scanPlanWire = z.object({
  source: scanMode,
  /** By the settings; null without a node. */
  choice: z.object({ source: scanMode, why: z.string() }).nullable(),
  open: z.array(z.object({ asset: z.enum(ASSET_IDS), methods: z.number() })),
  isComplete: z.boolean(),
  isResting: z.boolean(),
  nextLookAt: z.number().nullable(),
  reason: z.string(),
  nextLooks: z
    .object({ endedAt: z.number(), endedHeight: z.number(), allAt: z.number(), allHeight: z.number() })
    .nullable(),
})

/** The plan of a network by `<mode>:<network>`; null where it was never scanned. */
function scanPlanToWire(plans: readonly ScanPlan[], id: string): z.output<typeof scanPlanWire> | null {
  const plan = plans.find((one) => one.id === id)
  if (plan === undefined) return null
  const { id: _id, open, ...same } = plan
  return { ...same, open: [...open] }
}

/** Blocks that a dry run reads while a person waits; for more, use the command line. */
const READ_AHEAD_MAX = 100

const chain = z.object({ mode: z.enum(MODES), network: z.enum(NETWORK_IDS) })
const height = z.int().min(0).nullable().default(null)
const wanted = chain.extend({
  kind: z.enum(CHAIN_COMMAND_KINDS),
  from: height,
  to: height,
  acceptReorg: z.boolean().default(false),
})
const commandWire = z.object({
  id: z.string(),
  kind: z.enum(CHAIN_COMMAND_KINDS),
  from: z.number().nullable(),
  to: z.number().nullable(),
  nextHeight: z.number().nullable(),
  changed: z.number(),
  status: z.enum(['open', 'done', 'refused', 'cancelled']),
  outcome: z.string().nullable(),
  requestedBy: z.string(),
  requestedAt: z.number(),
})
const planWire = z.object({
  height: z.number(),
  status: z.enum(['live', 'catchup', 'halted']),
  from: z.number().nullable(),
  to: z.number().nullable(),
  livePayments: z.number(),
  confirmedPayments: z.number(),
})
const stuckWire = z.object({
  cause: z.enum(STUCK_CAUSES),
  sentence: z.string(),
  advice: z.string(),
  since: z.number(),
})
const troubleWire = z.object({
  kind: z.enum(['node', 'silent', 'mismatch', 'other']),
  height: z.number(),
  hash: z.string().nullable(),
  method: z.string().nullable(),
  reason: z.string(),
  host: z.string().nullable(),
  firstAt: z.number(),
  lastAt: z.number(),
  tries: z.number(),
})
const releasePlanWire = z.object({
  height: z.number(),
  stuck: stuckWire.nullable(),
  passedUntil: z.number(),
  through: z.number(),
  waiting: z.number(),
})
const statusWire = chain.extend({
  hasNode: z.boolean(),
  status: z.enum(['live', 'catchup', 'halted', 'stuck', 'never_scanned']),
  height: z.number().nullable(),
  headHeight: z.number().nullable(),
  lagBlocks: z.number().nullable(),
  /** Time since the last scanned block, and the threshold above which new invoices are not offered the network. */
  blockAgeMs: z.number().nullable(),
  lagMarkMs: z.number(),
  headAgeMs: z.number().nullable(),
  finalizedHeight: z.number().nullable(),
  mempoolAgeMs: z.number().nullable(),
  scanner: z.string().nullable(),
  /** True when a scanner held the lease and did not renew it. */
  leaseExpired: z.boolean(),
  haltReason: z.string().nullable(),
  waitReason: z.string().nullable(),
  /** Why it does not advance; null when it does. */
  stuck: stuckWire.nullable(),
  /** The failure that prevents reading the next block, from its first second on. */
  trouble: troubleWire.nullable(),
  /** Deadlines of its invoices take effect up to here. */
  deadlinesUntil: z.number().nullable(),
  released: z.object({ through: z.number(), by: z.string() }).nullable(),
  recheckThrough: z.number().nullable(),
  missingTokens: z.array(z.enum(ASSET_IDS)),
  /** Measured beside the row; `row` null where the network has no such figure, `measured` null until there is one. */
  facts: z.array(
    z.object({
      fact: z.enum(['block_time', 'finality', 'reorganisation']),
      unit: z.enum(['ms', 'blocks']),
      row: z.number().nullable(),
      measured: z.number().nullable(),
      isOff: z.boolean(),
    }),
  ),
  row: z.object({ on: z.string(), source: z.string(), isOld: z.boolean() }),
  /** Null when it was never scanned. */
  scan: scanPlanWire.nullable(),
  open: z.array(commandWire),
})

/** State of the scanners, and operators' requests to them. */
export const chainsRouter = router({
  list: operatorQuery()
    .output(z.object({ items: z.array(statusWire) }))
    .query(async ({ ctx }) => {
      const { catalog } = ctx.deps.instance
      const [found, plans] = await Promise.all([chainStatus(ctx.deps.instance), scanPlans(ctx.deps.instance)])
      return {
        items: found.map(({ lease, open, missingTokens, facts, ...same }) => ({
          ...same,
          missingTokens: [...missingTokens],
          facts: [...facts],
          lagMarkMs: lagMarkMs(catalog.blockTimeMs(same.network, same.mode)),
          scanner: lease === null || lease.expired ? null : lease.owner,
          leaseExpired: lease?.expired === true,
          scan: scanPlanToWire(plans, `${same.mode}:${same.network}`),
          open: [...open],
        })),
      }
    }),

  /** What providers are asked today and this month (UTC), and how much of each quota is used. */
  costs: operatorQuery()
    .output(nodeCostReport)
    .query(({ ctx }) => nodeCosts(ctx.deps.instance)),

  /** Queries each node; slow where one does not respond. */
  nodes: operatorQuery()
    .input(chain)
    .output(
      z.object({
        nodes: z.array(
          z.object({
            host: z.string(),
            height: z.number().nullable(),
            finalizedHeight: z.number().nullable(),
            tookMs: z.number().nullable(),
            fault: z.string().nullable(),
          }),
        ),
      }),
    )
    .query(async ({ ctx, input }) => ({ nodes: [...(await ctx.deps.instance.nodes.look(input.mode, input.network))] })),

  /** The effect of a request, read from the node if the blocks are few; nothing is stored. */
  plan: operatorQuery()
    .input(wanted)
    .output(
      z.object({
        plan: planWire,
        /** Null when there is no block to read, or too many to wait for. */
        preview: z
          .object({
            blocks: z.number(),
            known: z.number(),
            changes: z.array(
              z.object({
                effect: z.string(),
                height: z.number().nullable(),
                amount: z.string(),
                invoiceId: z.string().nullable(),
                txHash: z.string().nullable(),
              }),
            ),
          })
          .nullable(),
        standing: commandWire.nullable(),
      }),
    )
    .query(async ({ ctx, input }) => {
      const result = await requestCommand(ctx.deps.instance, { ...input, dryRun: true, actor: ctx.actor })
      const preview = await readAhead(ctx.deps, input, result.plan)
      return { plan: result.plan, preview, standing: result.command }
    }),

  request: operatorMutation({ stepUp: 'live' })
    .input(wanted)
    .output(z.object({ plan: planWire, command: commandWire.nullable(), repeated: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const opId = derivedUuid('chain', input.mode, input.network, input.opId)
      const request = { ...input, opId, dryRun: false, actor: ctx.actor, reason: input.reason ?? null }
      const { plan, command, repeated } = await requestCommand(ctx.deps.instance, request)
      return { plan, command, repeated }
    }),

  cancel: operatorMutation({ stepUp: 'live' })
    .input(chain.extend({ kind: z.enum(CHAIN_COMMAND_KINDS).nullable().default(null) }))
    .output(z.object({ cancelled: z.array(commandWire), tooLate: z.array(commandWire) }))
    .mutation(async ({ ctx, input }) => {
      const { mode, network, kind } = input
      const { at: madeUntil } = ctx.operation
      const request = { mode, network, kind, dryRun: false, actor: ctx.actor, reason: input.reason ?? null, madeUntil }
      const { cancelled, tooLate } = await cancelChainCommands(ctx.deps.instance, request)
      return { cancelled: [...cancelled], tooLate: [...tooLate] }
    }),

  /** How many invoices wait for a stuck network, and up to when their deadlines take effect already; nothing is stored. */
  releasePlan: operatorQuery()
    .input(chain)
    .output(releasePlanWire)
    .query(async ({ ctx, input }) => planRelease(ctx.deps.instance, { ...input, through: null })),

  /** Lets deadlines of a stuck network take effect up to a moment, without a scan. Needs a reason. */
  releaseDeadlines: operatorMutation({ stepUp: 'live' })
    .input(chain.extend({ through: z.int().min(0), reason: trimmedText(500).min(1) }))
    .output(z.object({ plan: releasePlanWire, changed: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const { mode, network, through } = input
      const opId = derivedUuid('release', mode, network, input.opId)
      const request = { mode, network, through, opId, dryRun: false, actor: ctx.actor, reason: input.reason }
      const { plan, changed } = await releaseDeadlines(ctx.deps.instance, request)
      return { plan, changed }
    }),
})

async function readAhead(
  { instance, clock }: AdminDeps,
  { mode, network, kind, acceptReorg }: Pick<CommandInput, 'mode' | 'network' | 'kind' | 'acceptReorg'>,
  { from, to }: ChainPlan,
) {
  if (from === null || to === null || to - from >= READ_AHEAD_MAX) return null
  const client = instance.openChain(mode, network)
  if (client === null) return null
  try {
    const range = { mode, network, from, to, confirmedToo: kind === 'rewind', acceptReorg, onProgress: () => undefined }
    const { blocks, known, changes } = await previewRescan({ ...instance, clock, client }, range)
    const shown = changes.map(({ effect, height: at, amount, invoiceId, txHash }) => {
      return { effect, height: at, amount, invoiceId, txHash }
    })
    return { blocks, known, changes: shown }
  } catch (error) {
    if (error instanceof PaymeshError) throw error
    const reason = errorText(error)
    throw new PaymeshError('INVALID_STATE', { message: `The node could not be queried: ${reason}.`, cause: error })
  } finally {
    await client.close()
  }
}
