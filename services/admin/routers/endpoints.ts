import { z } from 'zod'
import { actionOf } from '#services/admin/action.ts'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { webhookEndpointBody } from '#shared/contracts/http/webhook-endpoint.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { requestRecovery } from '#shared/usecases/deliveries/recover.ts'
import { addEndpoint, removeEndpoint, updateEndpoint } from '#shared/usecases/endpoints/change-endpoints.ts'
import {
  ROTATION_OVERLAP_MAX_MS,
  ROTATION_OVERLAP_MS,
  rotateEndpointSecret,
} from '#shared/usecases/endpoints/rotate-endpoint-secret.ts'
import { sendTestEvent } from '#shared/usecases/endpoints/send-test-event.ts'
import { setEndpointStatus } from '#shared/usecases/endpoints/set-endpoint-status.ts'
import { derivedUuid } from '#shared/usecases/requests/begin-operation.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import { announced } from '../announced.ts'
import type { AdminDeps } from '../assemble.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { deliveriesToWire, deliveryWire } from '../wire/delivery-wire.ts'
import {
  type EndpointWire,
  endpointToWire,
  endpointWire,
  eventNames,
  recoveryToWire,
  recoveryWire,
} from '../wire/endpoint-wire.ts'

const RECOVERIES_SHOWN = 10
const one = z.object({ endpointId: z.uuid() })

/** Webhook endpoints, their health, and operators' actions on them. */
export const endpointsRouter = router({
  list: workspaceQuery('viewer')
    .output(z.object({ items: z.array(endpointWire) }))
    .query(async ({ ctx, input }) => {
      const found = await ctx.deps.instance.endpoints.list(input.workspaceId, input.mode)
      const newestFirst = [...found].sort((left, right) => right.createdAt - left.createdAt)
      return { items: await Promise.all(newestFirst.map((endpoint) => toWire(ctx.deps, endpoint))) }
    }),

  get: workspaceQuery('viewer')
    .input(one)
    .output(z.object({ endpoint: endpointWire, recoveries: z.array(recoveryWire) }))
    .query(async ({ ctx, input }) => {
      const endpoint = await ownEndpoint(ctx.deps, input)
      const recoveries = await ctx.deps.instance.recoveries.listByEndpoint(endpoint.id, RECOVERIES_SHOWN)
      return { endpoint: await toWire(ctx.deps, endpoint), recoveries: recoveries.map(recoveryToWire) }
    }),

  create: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true })
    .input(z.object({ endpoint: webhookEndpointBody }))
    .output(z.object({ endpoint: endpointWire, secret: z.string() }))
    .mutation(async ({ ctx, input }) => {
      const { workspace, deps } = ctx
      const request = { workspace, mode: input.mode, body: input.endpoint, ...actionOf(ctx, input) }
      const { endpointId, secret } = await addEndpoint(announcedParts(ctx), request)
      return { endpoint: await toWire(deps, await ownEndpoint(deps, { ...input, endpointId })), secret }
    }),

  update: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true })
    .input(
      one.extend({
        /** `updatedAt` of the endpoint as the person saw it. */
        version: z.number(),
        events: eventNames,
        description: trimmedText(500).nullable(),
        /** Null: the installation's number. */
        inFlightMax: z.int().min(1).max(64).nullable(),
      }),
    )
    .output(endpointWire)
    .mutation(async ({ ctx, input }) => {
      const { workspace, deps } = ctx
      const { endpointId, version, inFlightMax, mode } = input
      await ownEndpoint(deps, input)
      const description = input.description === '' ? null : input.description
      const change = { events: [...new Set(input.events)], description, inFlightMax }
      await updateEndpoint(announcedParts(ctx), {
        ...{ workspace, mode, endpointId, version, change, ...actionOf(ctx, input) },
      })
      return await toWire(deps, await ownEndpoint(deps, input))
    }),

  setStatus: workspaceMutation('admin', { worksWhile: 'suspended', stepUp: true })
    .input(one.extend({ status: z.enum(['enabled', 'disabled']) }))
    .output(z.object({ endpoint: endpointWire, changed: z.boolean() }))
    .mutation(async ({ ctx, input }) => {
      const { id } = await ownEndpoint(ctx.deps, input)
      const request = { endpointId: id, status: input.status, ...actionOf(ctx, input) }
      const { changed } = await setEndpointStatus(announcedParts(ctx), request)
      return { endpoint: await toWire(ctx.deps, await ownEndpoint(ctx.deps, input)), changed }
    }),

  remove: workspaceMutation('admin', { worksWhile: 'suspended', stepUp: true })
    .input(one)
    .output(z.object({ removed: z.literal(true) }))
    .mutation(async ({ ctx, input }) => {
      const { workspace } = ctx
      const { endpointId, mode } = input
      await removeEndpoint(announcedParts(ctx), { workspace, mode, endpointId, ...actionOf(ctx, input) })
      return { removed: true }
    }),

  rotate: workspaceMutation('admin', { worksWhile: 'suspended', stepUp: true })
    .input(
      one.extend({
        overlapMs: z.int().min(0).max(ROTATION_OVERLAP_MAX_MS).default(ROTATION_OVERLAP_MS),
        /** A secret that receivers were given in advance; absent: one is generated now. */
        newSecret: boundedText(100).optional(),
      }),
    )
    .output(z.object({ secret: z.string(), oldSecretUntil: z.number() }))
    .mutation(async ({ ctx, input }) => {
      const { id } = await ownEndpoint(ctx.deps, input)
      const { overlapMs, workspaceId, newSecret } = input
      const opId = derivedUuid('rotate', workspaceId, id, input.opId)
      const by = actionOf(ctx, { ...input, opId })
      const request = { endpointId: id, overlapMs, ...by, ...(newSecret !== undefined && { newSecret }) }
      const { secret, oldUntil } = await rotateEndpointSecret(announcedParts(ctx), request)
      return { secret, oldSecretUntil: oldUntil }
    }),

  sendTest: workspaceMutation('support', { worksWhile: 'restricted' })
    .input(one)
    .output(deliveryWire)
    .mutation(async ({ ctx, input }) => {
      const { id } = await ownEndpoint(ctx.deps, input)
      const { mode, workspaceId } = input
      // The event's id is derived from this: a client must not be able to choose another workspace's.
      const opId = derivedUuid('test', workspaceId, id, input.opId)
      const request = { endpointId: id, mode, ...actionOf(ctx, { ...input, opId }) }
      const delivery = await sendTestEvent(ctx.deps.instance, request)
      const [wired] = await deliveriesToWire(ctx.deps.instance, [delivery])
      if (wired === undefined) throw new Error('one row gives one row')
      return wired
    }),

  recover: workspaceMutation('support', { worksWhile: 'suspended' })
    .input(
      one.extend({
        since: z.number(),
        /** Exclusive; null = up to now. */
        until: z.number().nullable().default(null),
        scope: z.enum(['failed', 'all']).default('failed'),
      }),
    )
    .output(recoveryWire)
    .mutation(async ({ ctx, input }) => {
      const { id } = await ownEndpoint(ctx.deps, input)
      const { since, until, scope, workspaceId } = input
      const opId = derivedUuid('recover', workspaceId, id, input.opId)
      const request = { endpointId: id, since, until, scope, ...actionOf(ctx, { ...input, opId }) }
      return recoveryToWire(await requestRecovery(ctx.deps.instance, request))
    }),
})

/** An endpoint of the workspace that receives events of the mode; another one is reported as unknown. */
const ownEndpoint = async (
  { instance }: AdminDeps,
  input: Parameters<typeof requireOwn>[1] & { readonly endpointId: string },
) => requireOwn(await instance.endpoints.findById(input.endpointId), input)

async function toWire({ instance, clock }: AdminDeps, endpoint: WebhookEndpoint): Promise<EndpointWire> {
  const [health, recoveries] = await Promise.all([
    instance.deliveryReads.health(endpoint.id),
    instance.recoveries.listByEndpoint(endpoint.id, 1),
  ])
  const [latest] = recoveries
  return endpointToWire(endpoint, health, latest?.state === 'open' ? latest : null, clock.now())
}

/** For changes that are mailed to every owner of a live endpoint. */
function announcedParts(ctx: { readonly deps: AdminDeps; readonly ip: string }) {
  return { ...ctx.deps.instance, operations: announced(ctx).operations }
}
