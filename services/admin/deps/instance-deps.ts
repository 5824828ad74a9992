import type { ServiceContext } from '#services/context.ts'
import { createAddressBook } from '#shared/chains/address-book.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { createNodeLook } from '#shared/chains/look-at-nodes.ts'
import { createAuditRepository } from '#shared/db/audit-repository.ts'
import { createChainCommandRepository } from '#shared/db/chain-command-repository.ts'
import { createCursorRepository } from '#shared/db/cursor-repository.ts'
import { createDeliveryReads } from '#shared/db/delivery-reads.ts'
import { createDeliveryRepository } from '#shared/db/delivery-repository.ts'
import { createEndpointDeeds } from '#shared/db/endpoint-deeds.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createInstanceReads } from '#shared/db/instance-reads.ts'
import { createInvoiceRepository } from '#shared/db/invoice-repository.ts'
import { createMailRepository } from '#shared/db/mail-repository.ts'
import { createMembershipRepository } from '#shared/db/membership-repository.ts'
import { createOwnershipRepository } from '#shared/db/ownership-repository.ts'
import { createPaymentRepository } from '#shared/db/payment-repository.ts'
import { createRateRepository } from '#shared/db/rate-repository.ts'
import { createRecoveryRepository } from '#shared/db/recovery-repository.ts'
import { createUserRepository } from '#shared/db/user-repository.ts'
import { createWalletDeeds } from '#shared/db/wallet-deeds.ts'
import { createWalletRepository } from '#shared/db/wallet-repository.ts'
import { createWorkspaceRepository } from '#shared/db/workspace-repository.ts'
import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import { createQueueCounts } from '#shared/queues/queue-counts.ts'
import { createEgressGuard } from '#shared/runtime/egress-guard.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { ownersOfWorkspace } from '#shared/usecases/owners-of-workspace.ts'
import type { Kicker } from '#shared/usecases/ports/runtime.ts'

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
