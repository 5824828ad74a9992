import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import type { ClaimedDelivery } from './send-delivery.ts'

/** A row claimed more often than this without an outcome is suspected to crash its sender. */
const POISON_CLAIMS = 20

export type PrepareDeliveriesDeps = Uses<'deliveries' | 'secretBox' | 'clock' | 'logger' | 'metrics'>

/** Endpoints and events by id, read at the time of a claim. */
export interface ClaimSurroundings {
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
