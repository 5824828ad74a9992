import type { DeliveryDocument } from '#shared/db/deliveries/delivery-model.ts'
import { must } from '../kernel/violation.ts'
import type { Sim } from '../world/sim.ts'
import type { History } from './history.ts'

/** An endpoint that was acknowledged so long before an event gets it for certain. */
const SETTLED_MS = 5_000

/** L2: every event went to every endpoint that wanted it, or was tried nine times. */
export function checkDeliveries(sim: Sim, history: History): void {
  const rows = sim.store.documents('webhook_deliveries') as unknown as readonly DeliveryDocument[]
  const wanted = new Map(
    rows.filter(({ generation }) => generation === 0).map((row) => [`${row.eventId} ${row.endpointId}`, row]),
  )
  for (const row of rows) {
    must(row.status === 'succeeded' || row.status === 'failed', 'L2', () => `delivery ${row._id} is ${row.status}`)
    must(row.leaseToken === null, 'L3', () => `delivery ${row._id} is still claimed`)
    const endpoint = sim.book.endpoints.get(row.endpointId)
    const dead = endpoint !== undefined && sim.book.receiverOf(endpoint.url).dead
    if (dead) must(row.status === 'failed', 'L2', () => `delivery ${row._id} to a dead receiver ${row.status}`)
  }
  for (const { entry, workspaceId, mode } of history.published.values()) {
    if (entry.kind !== 'event') continue
    for (const endpoint of sim.book.endpoints.values()) {
      const fits = endpoint.workspaceId === workspaceId && (endpoint.mode === 'both' || endpoint.mode === mode)
      const subscribed = endpoint.events.includes('*') || endpoint.events.includes(entry.type)
      if (!fits || !subscribed || endpoint.deletedAt !== null || endpoint.createdAt + SETTLED_MS > entry.at.getTime())
        continue
      const row = wanted.get(`${entry.eventId} ${endpoint.id}`)
      must(
        row !== undefined,
        'L2',
        () => `event ${entry.eventId} (${entry.type}) was never on its way to ${endpoint.id}`,
      )
    }
  }
}

/** Failed deliveries in a row that make a mail, and once. */
const STREAK = 3

/** One streak of failed deliveries makes one mail. */
export function checkMails(sim: Sim): void {
  const mails = sim.store.documents('mails')
  for (const endpoint of sim.book.endpoints.values()) {
    const rows = (sim.store.documents('webhook_deliveries') as unknown as readonly DeliveryDocument[]).filter(
      ({ endpointId }) => endpointId === endpoint.id,
    )
    if (endpoint.deletedAt !== null || rows.some(({ status }) => status === 'succeeded')) continue
    const failed = rows.filter(({ status }) => status === 'failed').length
    const about = mails.filter(({ _id: id }) => String(id).startsWith(`endpoint-failing:${endpoint.id}`)).length
    must(
      failed < STREAK || about === 1 || !sim.mailsAreCertain,
      'L2',
      () => `${failed} deliveries to ${endpoint.id} failed in a row and made ${about} mails`,
    )
    must(about <= 1, 'S9', () => `one streak of ${endpoint.id} made ${about} mails`)
  }
}

/** L4: no key is stuck. */
export function checkKeys(sim: Sim): void {
  for (const row of sim.store.documents('idempotency_keys')) {
    const lease = row['leaseUntil']
    const over = lease instanceof Date && lease.getTime() <= sim.scheduler.now
    must(row['response'] !== null || over, 'L4', () => `the operation ${String(row['_id'])} runs for ever`)
  }
}
