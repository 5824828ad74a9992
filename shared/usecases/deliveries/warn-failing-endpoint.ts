import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import { QUEUES } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Failed deliveries in a row that trigger a mail (specification §6, delivery rules). */
const STREAK = 3
/** How many deliveries are searched first for the start of a streak … */
const LOOK_BACK = 20
/**
 * … and at most. All requests in flight to an endpoint may fail in one moment, in several processes, before the streak is checked;
 * a longer streak was mailed long ago.
 */
const LOOK_BACK_MAX = 1_000

export type WarnFailingEndpointDeps = Uses<'deliveries' | 'mails' | 'workspaces' | 'notifier' | 'clock'>

/**
 * Mails the owner when the endpoint's last deliveries, by finish time, are three failures or more in a row. The mail's id
 * is derived from the endpoint and the first delivery of the streak, so a streak is mailed once however often and by however
 * many processes this is called; a success in between begins a new streak.
 */
export async function warnFailingEndpoint(deps: WarnFailingEndpointDeps, endpoint: WebhookEndpoint): Promise<void> {
  const streak =
    (await streakWithin(deps, endpoint.id, LOOK_BACK)) ?? (await streakWithin(deps, endpoint.id, LOOK_BACK_MAX))
  const first = streak?.at(-1)
  if (streak === null || first === undefined || streak.length < STREAK) return
  const mailId = (delivery: { readonly id: string }) => `endpoint-failing:${endpoint.id}:${delivery.id}`
  // Outcomes are not always recorded in timestamp order; a late one can change which delivery starts the streak.
  if (await deps.mails.hasAny(streak.map(mailId))) return
  const workspace = await deps.workspaces.findById(endpoint.workspaceId)
  if (workspace === null) return
  const id = mailId(first)
  await deps.mails.insertMany([
    {
      id,
      workspaceId: workspace.id,
      template: 'endpoint_failing',
      to: workspace.ownerEmail,
      data: { endpointId: endpoint.id, url: endpoint.url, firstDeliveryId: first.id },
      createdAt: deps.clock.now(),
    },
  ])
  deps.notifier.notify(QUEUES.mail, id)
}

/** The latest deliveries, newest first, up to the last success; null when the streak began before the searched part. */
async function streakWithin(deps: Pick<WarnFailingEndpointDeps, 'deliveries'>, endpointId: string, limit: number) {
  const finished = await deps.deliveries.lastFinished(endpointId, limit)
  const successAt = finished.findIndex((delivery) => delivery.status === 'succeeded')
  if (successAt === -1) return finished.length < limit ? finished : null
  return finished.slice(0, successAt)
}
