import type { Database } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { after, stopwatch } from '#shared/runtime/process/timers.ts'
import type { DispatchDeliveriesDeps } from '#shared/usecases/deliveries/dispatch-process.ts'

/** What a dispatcher needs on real stores, with localhost allowed and wake-ups that go nowhere. */
export function dispatcherDeps(
  { db, runtime }: { readonly db: Database; readonly runtime: Runtime },
  parts: Pick<DispatchDeliveriesDeps, 'secretBox' | 'http'>,
): DispatchDeliveriesDeps {
  return {
    ...runtime,
    ...createRepositories(db, runtime),
    ...parts,
    notifier: { notify: () => undefined },
    after,
    stopwatch,
    allowLocalhost: true,
    maxInFlight: { normal: 64, slow: 16 },
    endpointInFlightMax: 64,
    processes: () => 1,
  }
}
