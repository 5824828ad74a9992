import type { ServiceParts, Stop } from '#services/context.ts'
import { createOutboxWorker } from '#shared/queues/outbox-queue.ts'
import { createOutboxRelay, type RelayDeps } from '#shared/usecases/outbox/relay-outbox.ts'

/** The parts of the former `outbox` process. */
export interface OutboxParts extends ServiceParts {
  readonly urls: RelayDeps['urls']
}

/** Relays saved outbox entries on a worker of its queue; `webhooks` processes send them. */
export function assembleOutbox(parts: OutboxParts): Stop {
  const relay = createOutboxRelay(parts)
  const worker = createOutboxWorker(parts.startWorker, {
    relay: (shard) => relay.relayShard(shard),
    overdue: () => relay.overdueShards(),
    // Processes of `webhooks` relay too.
    isAlone: () => false,
  })
  return () => worker.stop()
}
