import type { ServiceContext } from '#services/context.ts'
import { createDeliveryLookups } from '#shared/db/delivery-lookups.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createRecoveryRepository } from '#shared/db/recovery-repository.ts'
import { createRecoveriesWorker } from '#shared/queues/recoveries-queue.ts'
import type { QueueWorker } from '#shared/queues/worker.ts'
import { carryOutRecovery, overdueRecoveries } from '#shared/usecases/carry-out-recovery.ts'
import type { Kicker } from '#shared/usecases/ports/runtime.ts'

/** Carries out what people asked to be sent again. */
export function startRecoveries(context: ServiceContext, kicker: Kicker): QueueWorker {
  const { db } = context
  const deps = {
    ...context,
    kicker,
    recoveries: createRecoveryRepository(db),
    lookups: createDeliveryLookups(db),
    deliveries: createDeliveryRepository(db),
    endpoints: createEndpointRepository(db),
  }
  return createRecoveriesWorker(context.redis, context, {
    carryOut: (id) => carryOutRecovery(deps, id),
    overdue: () => overdueRecoveries(deps),
  })
}
