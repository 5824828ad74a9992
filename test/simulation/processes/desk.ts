import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/deliveries/endpoint-operations.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createExceptionRepository } from '#shared/db/exceptions/exception-repository.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createTenancyDeeds } from '#shared/db/workspaces/workspace-operations.ts'
import type { AssetId } from '#shared/domain/enumerations.ts'
import { resendDelivery } from '#shared/usecases/deliveries/resend-delivery.ts'
import { lockAsset } from '#shared/usecases/invoices/lock-asset.ts'
import { attachPayment } from '#shared/usecases/payments/attach-payment.ts'
import { revokeApiKey } from '#shared/usecases/workspaces/revoke-api-key.ts'
import { updateWorkspace } from '#shared/usecases/workspaces/update-workspace.ts'
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
