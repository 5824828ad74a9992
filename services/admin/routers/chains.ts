import { z } from 'zod'
import { trimmedText } from '#shared/contracts/bounded-text.ts'
import {
  CHAIN_COMMAND_KINDS,
  type ChainPlan,
  chainCommandWire,
  chainPlan,
  rescanPreview,
} from '#shared/contracts/chain-commands.ts'
import { chainPlace, chainStatusWire, nodeState, releasePlan, scanPlan } from '#shared/contracts/chain-status.ts'
import { errorText } from '#shared/contracts/error-text.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { nodeCostReport } from '#shared/contracts/node-costs.ts'
import { scanPlans } from '#shared/usecases/diagnostics/scan-plans.ts'
import { chainStatus } from '#shared/usecases/networks/chain-status.ts'
import { lagMarkMs } from '#shared/usecases/networks/network-lag.ts'
import { nodeCosts } from '#shared/usecases/networks/node-costs.ts'
import { planRelease, releaseDeadlines } from '#shared/usecases/networks/release-deadlines.ts'
import { derivedUuid } from '#shared/usecases/requests/begin-operation.ts'
import { previewRescan } from '#shared/usecases/scanning/preview-rescan.ts'
import {
  type CommandInput,
  cancelChainCommands,
  requestCommand,
} from '#shared/usecases/scanning/request-chain-command.ts'
import type { AdminDeps } from '../assemble.ts'
import { operatorMutation, operatorQuery, router } from '../trpc.ts'

const height = z.int().min(0).nullable().default(null)
const wanted = chainPlace.extend({
  kind: z.enum(CHAIN_COMMAND_KINDS),
  from: height,
  to: height,
  acceptReorg: z.boolean().default(false),
})
const ofKind = chainPlace.extend({ kind: z.enum(CHAIN_COMMAND_KINDS).nullable().default(null) })
const cancelled = z.object({ cancelled: z.array(chainCommandWire), tooLate: z.array(chainCommandWire) })
const scannerState = chainStatusWire.extend({
  /** Age of the last scanned block above which new invoices are not offered the network. */
  lagMarkMs: z.number(),
  /** Null when it was never scanned. */
  scan: scanPlan.nullable(),
})

/** State of the scanners, and operators' requests to them. */
export const chainsRouter = router({
  list: operatorQuery()
    .output(z.object({ items: z.array(scannerState) }))
    .query(async ({ ctx }) => {
      const { catalog } = ctx.deps.instance
      const [found, plans] = await Promise.all([chainStatus(ctx.deps.instance), scanPlans(ctx.deps.instance)])
      return {
        items: found.map((one) => ({
          ...one,
          lagMarkMs: lagMarkMs(catalog.blockTimeMs(one.network, one.mode)),
          scan: plans.find(({ id }) => id === `${one.mode}:${one.network}`) ?? null,
        })),
      }
    }),

  /** What providers are asked today and this month (UTC), and how much of each quota is used. */
  costs: operatorQuery()
    .output(nodeCostReport)
    .query(({ ctx }) => nodeCosts(ctx.deps.instance)),

  /** Queries each node; slow where one does not respond. */
  nodes: operatorQuery()
    .input(chainPlace)
    .output(z.object({ nodes: z.array(nodeState) }))
    .query(async ({ ctx, input }) => ({ nodes: await ctx.deps.instance.nodes.look(input.mode, input.network) })),

  /** The effect of a request, read from the node if the blocks are few; nothing is stored. */
  plan: operatorQuery()
    .input(wanted)
    .output(
      z.object({
        plan: chainPlan,
        /** Null when there is no block to read, or too many to wait for. */
        preview: rescanPreview.nullable(),
        standing: chainCommandWire.nullable(),
      }),
    )
    .query(async ({ ctx, input }) => {
      const result = await requestCommand(ctx.deps.instance, { ...input, dryRun: true, actor: ctx.actor })
      const preview = await readAhead(ctx.deps, input, result.plan)
      return { plan: result.plan, preview, standing: result.command }
    }),

  request: operatorMutation({ stepUp: 'live' })
    .input(wanted)
    .output(z.object({ plan: chainPlan, command: chainCommandWire.nullable(), repeated: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const opId = derivedUuid('chain', input.mode, input.network, input.opId)
      const request = { ...input, opId, dryRun: false, actor: ctx.actor, reason: input.reason ?? null }
      return await requestCommand(ctx.deps.instance, request)
    }),

  /** The open requests that `cancel` would end, and those that are past it; nothing is stored. */
  cancelPlan: operatorQuery()
    .input(ofKind)
    .output(cancelled)
    .query(({ ctx, input }) => cancelChainCommands(ctx.deps.instance, { ...input, dryRun: true, actor: ctx.actor })),

  cancel: operatorMutation({ stepUp: 'live' })
    .input(ofKind)
    .output(cancelled)
    .mutation(({ ctx, input: { mode, network, kind, reason = null } }) => {
      const { at: madeUntil } = ctx.operation
      const request = { mode, network, kind, dryRun: false, actor: ctx.actor, reason, madeUntil }
      return cancelChainCommands(ctx.deps.instance, request)
    }),

  /** How many invoices wait for a stuck network, with deadlines up to `through` (default: now), and up to when they take effect already; nothing is stored. */
  releasePlan: operatorQuery()
    .input(chainPlace.extend({ through: z.int().min(0).nullable().default(null) }))
    .output(releasePlan)
    .query(({ ctx, input }) => planRelease(ctx.deps.instance, input)),

  /** Lets deadlines of a stuck network take effect up to a moment, without a scan. Needs a reason. */
  releaseDeadlines: operatorMutation({ stepUp: 'live' })
    .input(chainPlace.extend({ through: z.int().min(0), reason: trimmedText(500).min(1) }))
    .output(z.object({ plan: releasePlan, changed: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const { mode, network, through } = input
      const opId = derivedUuid('release', mode, network, input.opId)
      const request = { mode, network, through, opId, actor: ctx.actor, reason: input.reason }
      return await releaseDeadlines(ctx.deps.instance, request)
    }),
})

async function readAhead(
  { instance, preview }: AdminDeps,
  { mode, network, kind, acceptReorg }: Pick<CommandInput, 'mode' | 'network' | 'kind' | 'acceptReorg'>,
  { from, to }: ChainPlan,
) {
  if (from === null || to === null || to - from >= preview.blocksMax) return null
  const client = instance.openChain(mode, network)
  if (client === null) return null
  try {
    const { onProgress } = preview
    const range = { mode, network, from, to, confirmedToo: kind === 'rewind', acceptReorg, onProgress }
    return await previewRescan({ ...instance, client }, range)
  } catch (error) {
    if (error instanceof PaymeshError) throw error
    const reason = errorText(error)
    throw new PaymeshError('INVALID_STATE', { message: `The node could not be queried: ${reason}.`, cause: error })
  } finally {
    await client.close()
  }
}
