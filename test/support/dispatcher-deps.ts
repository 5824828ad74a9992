import type { Database } from '#shared/db/connect.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import { after } from '#shared/runtime/after.ts'
import { stopwatch } from '#shared/runtime/stopwatch.ts'
import type { DispatchDeliveriesDeps } from '#shared/usecases/dispatch-deliveries.ts'
import type { Ambient } from '#shared/usecases/ports/runtime.ts'

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
