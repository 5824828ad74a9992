import type { ServiceContext } from '#services/context.ts'
import { createAddressBook } from '#shared/chains/addresses/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createNodeLook } from '#shared/chains/check-nodes.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { createUserRepository } from '#shared/db/accounts/user-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createDeliveryReads } from '#shared/db/deliveries/delivery-reads.ts'
import { createDeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/deliveries/endpoint-operations.ts'
import { createRecoveryRepository } from '#shared/db/deliveries/recovery-repository.ts'
import { createEndpointRepository } from '#shared/db/endpoints/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/events/event-repository.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mails/mail-repository.ts'
import { createInstanceReads } from '#shared/db/maintenance/installation-reads.ts'
import { createPaymentRepository } from '#shared/db/payments/payment-repository.ts'
import { createRateRepository } from '#shared/db/rates/rate-repository.ts'
import { createChainCommandRepository } from '#shared/db/scanning/chain-command-repository.ts'
import { createCursorRepository } from '#shared/db/scanning/cursor-repository.ts'
import { createOwnershipRepository } from '#shared/db/wallets/ownership-repository.ts'
import { createWalletDeeds } from '#shared/db/wallets/wallet-operations.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { Kicker } from '#shared/ports/runtime.ts'
import { createQueueCounts } from '#shared/queues/queue-counts.ts'
import { createEgressGuard } from '#shared/runtime/http/egress-guard.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'

/** What the routers of webhooks, wallets and the installation work with, beside what all of them have. */
export interface InstanceDeps {
  readonly instance: ReturnType<typeof buildParts>
}

/** Wires the real parts on open connections. */
export function buildInstanceDeps(context: ServiceContext, _kicker: Kicker): InstanceDeps {
  return { instance: buildParts(context) }
}

function buildParts({ config, db, redis, random, metrics }: ServiceContext) {
  const workspaces = createWorkspaceRepository(db)
  const memberships = createMembershipRepository(db)
  const users = createUserRepository(db)
  return {
    audits: createAuditRepository(db),
    commands: createChainCommandRepository(db),
    cursors: createCursorRepository(db),
    deeds: createEndpointDeeds(db),
    deliveries: createDeliveryRepository(db),
    deliveryReads: createDeliveryReads(db),
    endpoints: createEndpointRepository(db),
    events: createEventRepository(db),
    invoices: createInvoiceRepository(db),
    mails: createMailRepository(db),
    ownership: createOwnershipRepository(db),
    payments: createPaymentRepository(db, random),
    rates: createRateRepository(db),
    reads: createInstanceReads(db),
    recoveries: createRecoveryRepository(db),
    wallets: createWalletRepository(db),
    walletDeeds: createWalletDeeds(db),
    workspaces,
    addressBook: createAddressBook(),
    catalog: createCatalog(config.networks),
    nodes: createNodeLook(config.networks, metrics),
    /** Null when the network has no node in that mode; whoever opens it closes it. */
    openChain: (mode: Mode, network: NetworkId) => createChainClient(config.networks, mode, network, metrics),
    queueCounts: createQueueCounts(redis),
    secretBox: createSecretBox(config.secrets.masterKey),
    urlGuard: createEgressGuard({ allowLocalhost: config.webhooks.allowLocalhost }),
    urls: { checkoutBaseUrl: config.checkout.baseUrl },
    walletDelayMs: config.wallets.delayMs,
    ownersOf: (workspaceId: string) => ownersOfWorkspace({ workspaces, memberships, users }, workspaceId),
  }
}
