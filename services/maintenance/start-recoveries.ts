import type { ServiceContext } from '#services/context.ts'
import { createDeliveryLookups } from '#shared/db/deliveries/delivery-lookups.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createRecoveryRepository } from '#shared/db/deliveries/recovery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import type { Kicker } from '#shared/ports/runtime.ts'
import { createRecoveriesWorker } from '#shared/queues/recoveries-queue.ts'
import type { QueueWorker } from '#shared/queues/worker.ts'
import { carryOutRecovery, overdueRecoveries } from '#shared/usecases/deliveries/run-recovery.ts'

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
