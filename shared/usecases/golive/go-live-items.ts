import { NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import type { WebhookEndpoint } from '#shared/ports/endpoints.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import type { User } from '#shared/ports/users.ts'
import type { Wallet } from '#shared/ports/wallets.ts'
import type { GoLiveDeps } from './go-live-deps.ts'

/** An item of a workspace with what its result depends on. */
export interface GoLiveItem {
  readonly item: string
  readonly evidence: string
  /** The wallet of an `address` item, otherwise null. */
  readonly wallet: Wallet | null
  /** The network of a `payment` item, otherwise null. */
  readonly network: NetworkId | null
}

/** What a workspace receives with, and the items that follow from it. */
export interface GoLiveFacts {
  readonly wallets: readonly Wallet[]
  readonly networks: readonly NetworkId[]
  readonly endpoints: readonly WebhookEndpoint[]
  /** Owners and admins. */
  readonly people: readonly User[]
  readonly items: readonly GoLiveItem[]
}

/** Evidence of a payment to no wallet of the workspace. */
export const BUILT_IN = 'built-in'

/** Reads the store only. In test mode without a wallet of its own a workspace receives with the built-in one, on every network with a node. */
export async function readGoLiveFacts(deps: GoLiveDeps, { workspaceId, mode }: GoLiveScope): Promise<GoLiveFacts> {
  const [all, receiving, owners, admins] = await Promise.all([
    deps.wallets.listWallets(workspaceId),
    deps.endpoints.list(workspaceId, mode),
    deps.memberships.list(workspaceId, 'owner'),
    deps.memberships.list(workspaceId, 'admin'),
  ])
  const wallets = all.filter((wallet) => wallet.mode === mode && wallet.disabledAt === null)
  const endpoints = receiving.filter(({ status }) => status === 'enabled')
  const strong = [...owners, ...admins]
  const people = await deps.users.findMany(strong.map(({ userId }) => userId))
  const isBuiltIn = mode === 'test' && wallets.length === 0
  const networks = NETWORK_IDS.filter((network) =>
    isBuiltIn ? deps.catalog.hasNode(network, mode) : wallets.some((wallet) => wallet.networks.includes(network)),
  )
  const sources = networks.map((network) => `${network}=${deps.nodeHosts(mode, network).join(',')}`).join(' ')
  const plain = (item: string, evidence: string): GoLiveItem => ({ item, evidence, wallet: null, network: null })
  const addresses = wallets.map((wallet) => ({
    ...plain(`address:${wallet.id}`, wallet.materialId),
    wallet,
  }))
  const now = deps.clock.now()
  // The newest wallet of a network that has started receives on it.
  const receiver = (network: NetworkId) =>
    wallets
      .filter((wallet) => wallet.networks.includes(network) && (wallet.effectiveAt ?? 0) <= now)
      .toSorted((a, b) => b.createdAt - a.createdAt)[0]
  const payments = networks.map((network) => ({
    ...plain(`payment:${network}`, receiver(network)?.materialId ?? BUILT_IN),
    network,
  }))
  return {
    wallets,
    networks,
    endpoints,
    people,
    items: [
      ...(addresses.length > 0 || isBuiltIn ? addresses : [plain('address', 'none')]),
      plain('nodes', sources),
      plain('second_source', sources),
      plain('webhook', lines(endpoints.map(({ id, url, rotatedBy }) => `${id} ${url} ${rotatedBy ?? ''}`))),
      plain('second_factor', lines(people.map(({ id, totp }) => `${id} ${totp?.since ?? '-'}`))),
      plain('master_key', deps.secretBox.keyId),
      plain('backup', 'audit log'),
      plain('mail', lines(people.map(({ email }) => email))),
      ...payments,
    ],
  }
}

const lines = (texts: readonly string[]): string => texts.toSorted().join('\n')
