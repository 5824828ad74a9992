import type { Mode, NetworkId } from '#shared/domain/enumerations.ts'
import type { AddressBook, Catalog } from '#shared/ports/chain-catalog.ts'
import type { DeliveryRepository } from '#shared/ports/deliveries.ts'
import type { DeliveryLookups } from '#shared/ports/delivery-lookups.ts'
import type { EndpointRepository } from '#shared/ports/endpoints.ts'
import type { EventRepository } from '#shared/ports/events.ts'
import type { GoLiveRepository } from '#shared/ports/go-live.ts'
import type { InvoiceRepository } from '#shared/ports/invoices.ts'
import type { MailQueue } from '#shared/ports/mail-queue.ts'
import type { MembershipRepository } from '#shared/ports/members.ts'
import type { NodeCheck } from '#shared/ports/node-states.ts'
import type { QueueNotifier, Runtime } from '#shared/ports/runtime.ts'
import type { SecretBox, SecretRotation } from '#shared/ports/secrets.ts'
import type { UserRepository } from '#shared/ports/users.ts'
import type { VerifiedBackups } from '#shared/ports/verified-backups.ts'
import type { WalletRepository } from '#shared/ports/wallets.ts'
import type { WorkspaceRepository } from '#shared/ports/workspaces.ts'
import type { NodeCostDeps } from '#shared/usecases/networks/node-costs.ts'

/** Dependencies of the checks before going live. */
export interface GoLiveDeps extends NodeCostDeps, Pick<Runtime, 'clock' | 'random'> {
  readonly goLive: GoLiveRepository
  readonly verifiedBackups: Pick<VerifiedBackups, 'latest'>
  readonly workspaces: Pick<WorkspaceRepository, 'findById'>
  readonly wallets: Pick<WalletRepository, 'listWallets' | 'findMaterial' | 'findAddresses'>
  readonly catalog: Pick<Catalog, 'hasNode'>
  readonly addressBook: Pick<AddressBook, 'derive' | 'parseAddresses' | 'accountPath'>
  readonly secretBox: SecretBox & Pick<SecretRotation, 'keyId'>
  readonly nodes: NodeCheck
  /** Hosts of the configured nodes, in their order. */
  nodeHosts(mode: Mode, network: NetworkId): readonly string[]
  readonly endpoints: Pick<EndpointRepository, 'list'>
  readonly lookups: Pick<DeliveryLookups, 'list'>
  readonly memberships: Pick<MembershipRepository, 'list'>
  readonly users: Pick<UserRepository, 'findMany'>
  readonly mailQueue: Pick<MailQueue, 'findById'>
  readonly invoices: Pick<InvoiceRepository, 'findById'>
  readonly events: Pick<EventRepository, 'listByInvoice'>
  readonly deliveries: Pick<DeliveryRepository, 'listByEvent'>
  readonly notifier: QueueNotifier
}
