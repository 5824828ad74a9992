import type { DeliveryRepository, MailRepository, WebhookEndpoint } from './ports/events.ts'
import { type Clock, type Kicker, QUEUES } from './ports/runtime.ts'
import type { WorkspaceRepository } from './ports/tenancy.ts'

/** Failed deliveries in a row that are worth a mail (specification §6, delivery rules). */
const STREAK = 3
/** How far back the start of a streak is looked for; a longer streak was mailed long ago. */
const LOOK_BACK = 20

export interface WarnFailingEndpointDeps {
  readonly deliveries: Pick<DeliveryRepository, 'lastFinished'>
  readonly mails: MailRepository
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
  readonly kicker: Kicker
  readonly clock: Clock
}

/**
 * Mails the owner when the endpoint's last deliveries, by finish time, are three failures or more in a row. The mail's id
 * is made of the endpoint and the first delivery of the streak, so a streak is mailed once however often and by however
 * many processes this is called; a success in between begins a new streak.
 */
export async function warnFailingEndpoint(deps: WarnFailingEndpointDeps, endpoint: WebhookEndpoint): Promise<void> {
  const finished = await deps.deliveries.lastFinished(endpoint.id, LOOK_BACK)
  const successAt = finished.findIndex((delivery) => delivery.status === 'succeeded')
  const streak = successAt === -1 ? finished : finished.slice(0, successAt)
  const first = streak.at(-1)
  if (first === undefined || streak.length < STREAK || streak.length >= LOOK_BACK) return
  const workspace = await deps.workspaces.findById(endpoint.workspaceId)
  if (workspace === null) return
  const id = `endpoint-failing:${endpoint.id}:${first.id}`
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
  deps.kicker.kick(QUEUES.mail, id)
}
