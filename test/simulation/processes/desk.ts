import { createApiKeyRepository } from '#shared/db/api-key-repository.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/endpoint-deeds.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exception-repository.ts'
import { createTenancyDeeds } from '#shared/db/tenancy-deeds.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { attachPayment } from '#shared/usecases/attach-payment.ts'
import { lockAsset } from '#shared/usecases/lock-asset.ts'
import { resendDelivery } from '#shared/usecases/resend-delivery.ts'
import { revokeApiKey } from '#shared/usecases/revoke-api-key.ts'
import { updateWorkspace } from '#shared/usecases/update-workspace.ts'
import type { Program } from '../world/supervisor.ts'
import { createSimEpochs } from './limiter.ts'
import { wireInvoices } from './locks.ts'
import { surround } from './surroundings.ts'

/** What payers do on the checkout page and operators at their desks; both are use cases on the same wiring. */
export const deskProgram: Program = async (sim, running) => {
  const around = await surround(sim, running)
  const { db } = around
  const epochs = createSimEpochs(around)
  const deps = {
    ...wireInvoices(around),
    epochs,
    apiKeys: createApiKeyRepository(db),
    tenancy: createTenancyDeeds(db),
    deliveries: createDeliveryRepository(db),
    deeds: createEndpointDeeds(db),
    endpoints: createEndpointRepository(db),
    events: createEventRepository(db),
    exceptions: createExceptionRepository(db),
  }
  const { handlers } = running
  handlers.set('lock', ({ invoiceId, asset, opId }: { invoiceId: string; asset: AssetId; opId: string }) =>
    lockAsset(deps, { invoiceId, asset, opId }),
  )
  handlers.set('resend', (deliveryId: string) => resendDelivery(deps, { id: deliveryId, actor: 'simulation' }))
  handlers.set('revoke', (keyId: string) =>
    revokeApiKey(deps, { keyId, deed: { opId: keyId, actor: 'simulation', reason: null } }),
  )
  handlers.set('status', ({ workspaceId, status }: { workspaceId: string; status: 'active' | 'suspended' }) =>
    updateWorkspace(deps, { workspaceId, change: { status } }),
  )
  handlers.set(
    'attach',
    ({ paymentId, invoiceId, value }: { paymentId: string; invoiceId: string; value: bigint | null }) =>
      attachPayment(deps, { paymentId, invoiceId, valueBase: value, dryRun: false, actor: 'simulation' }),
  )
}
