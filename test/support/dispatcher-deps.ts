import type { Database } from '#shared/db/connection/connect.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Ambient } from '#shared/ports/runtime.ts'
import { after } from '#shared/runtime/process/after.ts'
import { stopwatch } from '#shared/runtime/process/stopwatch.ts'
import type { DispatchDeliveriesDeps } from '#shared/usecases/deliveries/dispatch-deliveries.ts'

/** What a dispatcher needs on real stores, with localhost allowed and wake-ups that go nowhere. */
export function dispatcherDeps(
  { db, ambient }: { readonly db: Database; readonly ambient: Ambient },
  parts: Pick<DispatchDeliveriesDeps, 'secretBox' | 'http'>,
): DispatchDeliveriesDeps {
  return {
    ...ambient,
    ...parts,
    deliveries: createDeliveryRepository(db),
    endpoints: createEndpointRepository(db),
    events: createEventRepository(db),
    mails: createMailRepository(db),
    workspaces: createWorkspaceRepository(db),
    kicker: { kick: () => undefined },
    after,
    stopwatch,
    allowLocalhost: true,
    maxInFlight: { normal: 64, slow: 16 },
  }
}
