import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ClaimWant, Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createLowWaterMarks, type LowWaterMarks } from '#shared/usecases/outbox/outbox-memory.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { ClaimedDelivery } from './send.ts'

/** Rows of one endpoint in one claim. */
export const CLAIM_ROWS_MAX = 16
/** Endpoints in one claim. */
const ENDPOINTS_MAX = 32
/** Concurrent claims; all but two only for full groups, because more of them would make groups smaller. */
const IN_FLIGHT_MAX = 4
const EAGER_MAX = 2
/** A claim outlives the 10 s of the request with time to write the outcome; then any process may claim the row. */
export const LEASE_MS = 20_000
/** Requests that have not started by then are not sent: the lease could end while the request runs. */
export const SEND_WITHIN_MS = 6_000

export type DeliveryClaimerDeps = PrepareDeliveriesDeps &
  Uses<'deliveries' | 'endpoints' | 'events' | 'random' | 'clock'>

/** Result of a claim for one endpoint. */
export interface ClaimedRows {
  /** How many rows were claimed, whether or not they can be sent. */
  readonly count: number
  /** False when the endpoint had fewer due rows than requested. */
  readonly mayHaveMore: boolean
  /** Those that can be sent, oldest due first. */
  readonly ready: readonly ClaimedDelivery[]
  readonly leaseToken: string
  /** Nothing of this claim may be sent from then on. */
  readonly sendBefore: Ms
}

/** Claims due rows for all endpoints of a process together. */
export interface DeliveryClaimer {
  /**
   * Claims up to `room` due rows of an endpoint, at most `CLAIM_ROWS_MAX`, and prepares them. Callers that arrive while a claim is in
   * flight share the next one; a lone endpoint never waits. The endpoint is read once for each claim.
   * Throws when the store fails; claimed rows are then given back or fall due again when the lease ends.
   */
  claim(endpointId: string, room: number): Promise<ClaimedRows>
  /** Called when a sweep found a row of the endpoint that is due since then: later claims include it. */
  lower(endpointId: string, dueAt: Ms): void
}

interface PendingRequest {
  readonly want: ClaimWant
  readonly resolve: (rows: ClaimedRows) => void
  readonly reject: (error: unknown) => void
}

/** A claimer for one process; every lane shares it. */
export function createDeliveryClaimer(deps: DeliveryClaimerDeps): DeliveryClaimer {
  const lowWaterMarks = createLowWaterMarks<string>()
  let waiting: readonly PendingRequest[] = []
  let inFlight = 0
  const pump = (): void => {
    while (
      waiting.length > 0 &&
      (inFlight < EAGER_MAX || (waiting.length >= ENDPOINTS_MAX && inFlight < IN_FLIGHT_MAX))
    ) {
      const group = firstOfEach(waiting)
      waiting = waiting.filter((request) => !group.includes(request))
      inFlight += 1
      void claimGroup(deps, lowWaterMarks, group).finally(() => {
        inFlight -= 1
        pump()
      })
    }
  }
  return {
    claim: (endpointId, room) =>
      new Promise((resolve, reject) => {
        const want = { endpointId, limit: Math.min(room, CLAIM_ROWS_MAX) }
        waiting = [...waiting, { want, resolve, reject }]
        pump()
      }),
    lower: (endpointId, dueAt) => lowWaterMarks.lower(endpointId, dueAt),
  }
}

/** The requests that arrived first, each endpoint once: a repeated request for one endpoint is served by a later group. */
function firstOfEach(waiting: readonly PendingRequest[]): readonly PendingRequest[] {
  const group = new Map<string, PendingRequest>()
  for (const request of waiting) {
    if (group.size === ENDPOINTS_MAX) break
    if (!group.has(request.want.endpointId)) group.set(request.want.endpointId, request)
  }
  return [...group.values()]
}

async function claimGroup(
  deps: DeliveryClaimerDeps,
  lowWaterMarks: LowWaterMarks<string>,
  group: readonly PendingRequest[],
): Promise<void> {
  const leaseToken = deps.random.uuid()
  const sendBefore = deps.clock.now() + SEND_WITHIN_MS
  try {
    const wants = group.map(({ want }) => want)
    const reading = lowWaterMarks.begin(wants.map(({ endpointId }) => endpointId))
    const due = await deps.deliveries.findDue(wants, reading.from)
    const dueTimes = new Map(wants.map(({ endpointId }) => [endpointId, [] as Ms[]]))
    for (const { endpointId, dueAt } of due) dueTimes.get(endpointId)?.push(dueAt)
    for (const [endpointId, times] of dueTimes) lowWaterMarks.saw(reading, endpointId, times)
    const [ours, endpoints, events] = await claimAndRead(deps, due, leaseToken)
    await Promise.all(
      group.map(async ({ want, resolve }) => {
        const rows = ours.filter((row) => row.endpointId === want.endpointId)
        const ready =
          rows.length === 0 ? [] : await prepareDeliveries(deps, want.endpointId, rows, { endpoints, events })
        const mayHaveMore = (dueTimes.get(want.endpointId)?.length ?? 0) >= want.limit
        resolve({ count: rows.length, mayHaveMore, ready, leaseToken, sendBefore })
      }),
    )
  } catch (error) {
    for (const { reject } of group) reject(error)
  }
}

/** Event bodies never change and an endpoint is read once per claim, so neither has to wait for the claim's write. */
async function claimAndRead(deps: DeliveryClaimerDeps, due: readonly Delivery[], leaseToken: string) {
  if (due.length === 0) return [[], new Map(), new Map()] as const
  const ids = (of: (row: Delivery) => string) => [...new Set(due.map(of))]
  const reads = [
    deps.endpoints.findByIds(ids((row) => row.endpointId)),
    deps.events.findByIds(ids((row) => row.eventId)),
  ] as const
  const claim = deps.deliveries.claim(due, leaseToken, LEASE_MS)
  try {
    return await Promise.all([claim, ...reads])
  } catch (error) {
    // Nothing was sent under this token. If even this write fails, the lease expires.
    await Promise.allSettled([claim])
    await deps.deliveries
      .release(
        due.map(({ id }) => id),
        leaseToken,
      )
      .catch(() => undefined)
    throw error
  }
}

/** A row claimed more often than this without an outcome is suspected to crash its sender. */
const POISON_CLAIMS = 20

type PrepareDeliveriesDeps = Uses<'deliveries' | 'secretBox' | 'clock' | 'logger' | 'metrics'>

/** Endpoints and events by id, read at the time of a claim. */
interface ClaimSurroundings {
  readonly endpoints: ReadonlyMap<string, WebhookEndpoint>
  readonly events: ReadonlyMap<string, EventRecord>
}

/**
 * Prepares the rows that one endpoint has in a claim: opens its secrets and reads the frozen events. Rows of an
 * endpoint that no longer exists, or that no longer receives their mode, are purged and left out. A row that cannot be prepared is
 * left out too and stays claimed: it falls due again when its lease ends.
 */
export async function prepareDeliveries(
  deps: PrepareDeliveriesDeps,
  endpointId: string,
  rows: readonly Delivery[],
  { endpoints, events }: ClaimSurroundings,
): Promise<readonly ClaimedDelivery[]> {
  for (const row of rows) warnOfPoison(deps, row)
  const endpoint = endpoints.get(endpointId)
  if (endpoint === undefined) {
    const purged = await deps.deliveries.purge(endpointId, null)
    deps.logger.info({ endpointId, purged }, 'deliveries of a deleted webhook endpoint purged')
    return []
  }
  if (endpoint.status === 'disabled') {
    await deps.deliveries.hold(endpointId, rows[0]?.leaseToken ?? null)
    return []
  }
  const secrets = openSecrets(deps, endpoint)
  const wanted = await withoutUnwantedMode(deps, endpoint, rows)
  return wanted.flatMap((delivery) => {
    const event = events.get(delivery.eventId)
    const { leaseToken } = delivery
    if (event !== undefined && leaseToken !== null && secrets.length > 0) {
      return [{ delivery, event, endpoint, secrets, leaseToken }]
    }
    deps.logger.error(
      { endpointId, deliveryId: delivery.id, eventId: delivery.eventId, hasSecret: secrets.length > 0 },
      'webhook delivery cannot be prepared',
    )
    deps.metrics.count('webhook_unpreparable_total')
    return []
  })
}

/** A `both` endpoint that was deleted with a test key receives live events only. */
async function withoutUnwantedMode(
  deps: PrepareDeliveriesDeps,
  endpoint: WebhookEndpoint,
  rows: readonly Delivery[],
): Promise<readonly Delivery[]> {
  const unwanted = endpoint.mode === 'both' ? null : endpoint.mode === 'live' ? 'test' : 'live'
  if (unwanted === null || rows.every((row) => row.mode !== unwanted)) return rows
  await deps.deliveries.purge(endpoint.id, unwanted)
  return rows.filter((row) => row.mode !== unwanted)
}

/** Empty when an envelope cannot be decrypted, for example under another master key: nothing is sent unsigned. */
function openSecrets(deps: PrepareDeliveriesDeps, endpoint: WebhookEndpoint): readonly string[] {
  try {
    const former = endpoint.formerSecrets.filter(({ until }) => until > deps.clock.now())
    const sealed = [...endpoint.sealedSecrets, ...former.map((secret) => secret.sealed)]
    return sealed.map((envelope) => deps.secretBox.open(envelope, endpointSecretContext(endpoint.id)))
  } catch (error) {
    deps.logger.error({ err: error, endpointId: endpoint.id }, 'the secret of a webhook endpoint does not open')
    return []
  }
}

function warnOfPoison(deps: PrepareDeliveriesDeps, row: Delivery): void {
  if (row.claims - row.attempt <= POISON_CLAIMS) return
  deps.metrics.count('webhook_poison_total')
  deps.logger.error(
    { deliveryId: row.id, endpointId: row.endpointId, claims: row.claims, attempt: row.attempt },
    'webhook delivery is claimed again and again without an outcome',
  )
}
