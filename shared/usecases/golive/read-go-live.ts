import type { GoLiveLine, GoLiveReport } from '#shared/contracts/go-live-report.ts'
import type { DeliveryLookups } from '#shared/db/deliveries/delivery-lookups.ts'
import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Wallet } from '#shared/db/wallets/wallet-models.ts'
import { type Mode, NETWORK_IDS, type NetworkId } from '#shared/domain/enumerations.ts'
import {
  type GoLiveKind,
  type GoLiveReason,
  type GoLiveStatement,
  isOutOfDate,
  type StatementKind,
} from '#shared/domain/golive/go-live.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import type { KeyMaterial } from '#shared/ports/key-material.ts'
import type { NodeCheck } from '#shared/ports/node-states.ts'
import type { SecretBox, SecretRotation } from '#shared/ports/secrets.ts'
import type { User } from '#shared/ports/users.ts'
import { backupAge } from '#shared/ports/verified-backups.ts'
import { type NodeCostDeps, nodeCosts } from '#shared/usecases/networks/node-costs.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { openKeyMaterial } from '#shared/usecases/wallets/key-material.ts'

/** Dependencies of the check before going live. */
export type GoLiveDeps = NodeCostDeps &
  Uses<
    | 'goLive'
    | 'verifiedBackups'
    | 'workspaces'
    | 'wallets'
    | 'catalog'
    | 'addressBook'
    | 'endpoints'
    | 'memberships'
    | 'users'
    | 'mailQueue'
    | 'invoices'
    | 'events'
    | 'deliveries'
    | 'notifier'
  > & {
    readonly secretBox: SecretBox & Pick<SecretRotation, 'keyId'>
    readonly nodes: NodeCheck
    readonly lookups: Pick<DeliveryLookups, 'list'>
    /** Hosts of the configured nodes, in their order. */
    nodeHosts(mode: Mode, network: NetworkId): readonly string[]
  }

/** An item that passes by what a person stated or began, with what that depends on. */
export interface StatementItem {
  readonly item: string
  readonly kind: StatementKind
  readonly evidence: string
  /** The wallet of an `address` item, otherwise null. */
  readonly wallet: Wallet | null
  /** The network of a `payment` item, otherwise null. */
  readonly network: NetworkId | null
}

/** What a workspace receives with, and the items that follow from it. */
export interface GoLiveFacts {
  readonly networks: readonly NetworkId[]
  readonly endpoints: readonly WebhookEndpoint[]
  /** Owners and admins. */
  readonly people: readonly User[]
  readonly addresses: readonly StatementItem[]
  /** Whether it receives with the built-in wallet of test mode. */
  readonly isBuiltIn: boolean
  readonly masterKey: StatementItem
  readonly mail: StatementItem
  readonly payments: readonly StatementItem[]
}

/** State of an item, and why. */
type Finding = Pick<GoLiveLine, 'state' | 'reason' | 'about'>

/** Evidence of a payment to no wallet of the workspace. */
export const BUILT_IN = 'built-in'
/** Index whose address a person compares: wallets show it at once, and it is not the first one, which examples show. */
export const COMPARED_INDEX = 2
/** Deliveries of an endpoint that are looked through for its newest result. */
const DELIVERIES = 20
/** A back-up is due each week. */
const BACKUP_LIFE_MS = 8 * 86_400_000

const OPEN: Finding = { state: 'open', reason: null, about: '' }
const PASSED: Finding = { state: 'passed', reason: null, about: '' }
const OUT_OF_DATE: Finding = { state: 'out_of_date', reason: null, about: '' }
const failed = (reason: GoLiveReason, about: readonly string[] = []): Finding => ({
  ...{ state: 'failed', reason, about: about.join(', ').slice(0, 400) },
})
const waiting = (reason: GoLiveReason): Finding => ({ state: 'open', reason, about: '' })

/**
 * Computes every item now, from the settings, the stores and one request to each node of the workspace's networks (at most one in ten
 * seconds), and what people stated. Stores nothing.
 */
export async function readGoLive(deps: GoLiveDeps, scope: GoLiveScope): Promise<GoLiveReport> {
  const [facts, stored] = await Promise.all([readGoLiveFacts(deps, scope), deps.goLive.list(scope)])
  const byItem = new Map(stored.map((statement) => [statement.item, statement]))
  const stated = (entry: StatementItem) => statedLine(deps, scope, entry, byItem.get(entry.item) ?? null)
  const found = async (kind: GoLiveKind, finding: Finding | Promise<Finding>) => lineOf(kind, await finding)
  const noWallet = facts.addresses.length === 0 && !facts.isBuiltIn
  const lines = await Promise.all([
    ...(noWallet ? [found('address', failed('no_wallet'))] : facts.addresses.map(stated)),
    found('nodes', observeNodes(deps, scope, facts)),
    found('second_source', observeSources(deps, scope, facts)),
    found('webhook', observeWebhook(deps, facts)),
    found('second_factor', observeSecondFactor(facts)),
    stated(facts.masterKey),
    found('backup', observeBackup(deps)),
    stated(facts.mail),
    ...facts.payments.map(stated),
  ])
  const passed = lines.filter(({ state }) => state === 'passed').length
  return { lines, passed, isReady: passed === lines.length }
}

/** Reads the store only. In test mode without a wallet of its own a workspace receives with the built-in one, on every network with a node. */
export async function readGoLiveFacts(deps: GoLiveDeps, { workspaceId, mode }: GoLiveScope): Promise<GoLiveFacts> {
  const [all, receiving, owners, admins] = await Promise.all([
    deps.wallets.listWallets(workspaceId),
    deps.endpoints.list(workspaceId, mode),
    deps.memberships.list(workspaceId, 'owner'),
    deps.memberships.list(workspaceId, 'admin'),
  ])
  const wallets = all.filter((wallet) => wallet.mode === mode && wallet.disabledAt === null)
  const people = await deps.users.findMany([...owners, ...admins].map(({ userId }) => userId))
  const isBuiltIn = mode === 'test' && wallets.length === 0
  const networks = NETWORK_IDS.filter((network) =>
    isBuiltIn ? deps.catalog.hasNode(network, mode) : wallets.some((wallet) => wallet.networks.includes(network)),
  )
  const now = deps.clock.now()
  // The newest wallet of a network that has started receives on it.
  const receiver = (network: NetworkId) =>
    wallets
      .filter((wallet) => wallet.networks.includes(network) && (wallet.effectiveAt ?? 0) <= now)
      .toSorted((a, b) => b.createdAt - a.createdAt)[0]
  const emails = people.map(({ email }) => email).toSorted()
  const plain = { wallet: null, network: null }
  return {
    networks,
    endpoints: receiving.filter(({ status }) => status === 'enabled'),
    people,
    isBuiltIn,
    addresses: wallets.map((wallet) => {
      return { ...plain, item: `address:${wallet.id}`, kind: 'address', evidence: wallet.materialId, wallet }
    }),
    masterKey: { ...plain, item: 'master_key', kind: 'master_key', evidence: deps.secretBox.keyId },
    mail: { ...plain, item: 'mail', kind: 'mail', evidence: emails.join('\n') },
    payments: networks.map((network) => {
      const evidence = receiver(network)?.materialId ?? BUILT_IN
      return { ...plain, item: `payment:${network}`, kind: 'payment', evidence, network }
    }),
  }
}

const lineOf = (kind: GoLiveKind, finding: Finding): GoLiveLine => ({
  ...{ item: kind, kind, ...finding, at: null, by: null },
  ...{ walletId: null, walletKind: null, family: null, path: null, network: null, steps: null },
})

async function statedLine(
  deps: GoLiveDeps,
  scope: GoLiveScope,
  { item, kind, evidence, wallet, network }: StatementItem,
  statement: GoLiveStatement | null,
): Promise<GoLiveLine> {
  const isOld = statement !== null && isOutOfDate(kind, statement, evidence, deps.clock.now())
  const payment = kind === 'payment' && !isOld ? await followPayment(deps, scope, statement) : null
  const finding = isOld ? OUT_OF_DATE : (payment?.finding ?? (await findingOf(deps, kind, statement)))
  const material = wallet === null ? null : await deps.wallets.findMaterial(wallet.materialId)
  return {
    ...lineOf(kind, finding),
    ...{ item, network, at: statement?.at ?? null, by: statement?.by ?? null },
    walletId: wallet?.id ?? null,
    walletKind: wallet?.kind ?? null,
    family: wallet?.family ?? null,
    path: material === null ? null : comparedPath(deps, material),
    steps: payment?.steps ?? null,
  }
}

/** What a statement that still counts says about its item. */
async function findingOf(deps: GoLiveDeps, kind: StatementKind, statement: GoLiveStatement | null): Promise<Finding> {
  // A payment whose invoice is another workspace's shows nothing.
  if (statement === null || kind === 'payment') return OPEN
  if (kind === 'mail') return await observeMail(deps, statement)
  return statement.holds ? PASSED : failed('address_differs')
}

function comparedPath({ addressBook, secretBox }: GoLiveDeps, material: KeyMaterial): string | null {
  if (material.kind !== 'xpub') return null
  const account = addressBook.accountPath(material.family, material.mode, openKeyMaterial(secretBox, material))
  return `${account ?? '…'}/0/${COMPARED_INDEX}`
}

const nameOf = (network: NetworkId): string => NETWORKS[network].name

/** Every configured node of a workspace's networks responds and serves what the work needs, and no quota is used up. */
async function observeNodes(deps: GoLiveDeps, { mode }: GoLiveScope, { networks }: GoLiveFacts): Promise<Finding> {
  if (networks.length === 0) return failed('no_wallet')
  const bare = networks.filter((network) => !deps.catalog.hasNode(network, mode))
  if (bare.length > 0) return failed('no_node', bare.map(nameOf))
  const states = await Promise.all(networks.map((network) => deps.nodes.look(mode, network)))
  const silent = networks.flatMap((network, index) =>
    (states[index] ?? []).filter(({ height }) => height === null).map(({ host }) => `${nameOf(network)} (${host})`),
  )
  if (silent.length > 0) return failed('node_silent', silent)
  const behind = networks.flatMap((network, index) =>
    (states[index] ?? []).flatMap(({ host, fault }) =>
      fault === null ? [] : [`${nameOf(network)} (${host}): ${fault}`],
    ),
  )
  if (behind.length > 0) return failed('node_behind', behind)
  const probes = await Promise.all(networks.map((network) => deps.nodes.probe(mode, network)))
  const lacking = networks.flatMap((network, index) =>
    (probes[index] ?? []).flatMap(({ host, shortcomings }) =>
      shortcomings.map(({ need }) => `${nameOf(network)} (${host}): ${need}`),
    ),
  )
  if (lacking.length > 0) return failed('node_lacking', lacking)
  const { quotas } = await nodeCosts(deps)
  const used = quotas.filter((quota) => quota.mode === mode && networks.includes(quota.network))
  const critical = used.filter(({ level }) => level === 'critical').map(({ network }) => nameOf(network))
  return critical.length > 0 ? failed('quota_used', critical) : PASSED
}

/** Every network has nodes at two different hosts. */
function observeSources(deps: GoLiveDeps, { mode }: GoLiveScope, { networks }: GoLiveFacts): Finding {
  if (networks.length === 0) return failed('no_wallet')
  const single = networks.filter((network) => new Set(deps.nodeHosts(mode, network)).size < 2)
  return single.length > 0 ? failed('one_source', single.map(nameOf)) : PASSED
}

/**
 * Each endpoint's newest finished delivery succeeded: its receiver answered 2xx to a signed request. Deliveries from before its last
 * change count for nothing, since they were signed with the secret of that time.
 */
async function observeWebhook(deps: GoLiveDeps, { endpoints }: GoLiveFacts): Promise<Finding> {
  if (endpoints.length === 0) return failed('no_endpoint')
  const untested: string[] = []
  const failing: string[] = []
  for (const { id, url, updatedAt } of endpoints) {
    const newest = await deps.lookups.list({ endpointIds: [id], status: null, limit: DELIVERIES })
    const ended = newest.find(
      ({ status, finishedAt }) => (status === 'succeeded' || status === 'failed') && (finishedAt ?? 0) >= updatedAt,
    )
    const isRetried = newest.find(({ attempt }) => attempt > 0)?.status === 'pending'
    if (isRetried || ended?.status === 'failed') failing.push(new URL(url).host)
    else if (ended === undefined) untested.push(new URL(url).host)
  }
  if (failing.length > 0) return failed('webhook_failing', failing)
  return untested.length > 0 ? failed('webhook_untested', untested) : PASSED
}

/** Every owner and admin has an authenticator. */
function observeSecondFactor({ people }: GoLiveFacts): Finding {
  const bare = people.filter(({ totp }) => totp === null).map(({ email }) => email)
  return people.length === 0 || bare.length > 0 ? failed('factor_missing', bare) : PASSED
}

/** A back-up that holds the data of a moment within the last eight days was read to its end and is whole. */
async function observeBackup({ goLive, verifiedBackups, clock }: GoLiveDeps): Promise<Finding> {
  const [madeAt, verified] = await Promise.all([goLive.lastBackupAt(), verifiedBackups.latest()])
  if (backupAge(verified, clock.now()) <= BACKUP_LIFE_MS) return PASSED
  const isMade = madeAt !== null && clock.now() - madeAt <= BACKUP_LIFE_MS
  return failed(isMade ? 'backup_unverified' : 'backup_missing')
}

/** The mail server accepted the test mail. */
async function observeMail({ mailQueue }: GoLiveDeps, { ref }: GoLiveStatement): Promise<Finding> {
  const mail = ref === null ? null : await mailQueue.findById(ref)
  if (mail?.status === 'sent') return PASSED
  return mail === null || mail.status === 'failed' ? failed('mail_failed') : waiting('mail_waits')
}

/** How far the self-payment of an item got; null without one. An invoice of another workspace is none. */
async function followPayment(
  deps: GoLiveDeps,
  { workspaceId, mode }: GoLiveScope,
  statement: GoLiveStatement | null,
): Promise<{ readonly steps: GoLiveLine['steps']; readonly finding: Finding } | null> {
  const invoice = statement?.ref == null ? null : await deps.invoices.findById(statement.ref)
  if (invoice === null || invoice.terms.workspaceId !== workspaceId || invoice.terms.mode !== mode) return null
  const { state, terms } = invoice
  const isSettled = state.status === 'paid' || state.status === 'overpaid'
  // Simulated payments show nothing about a wallet or a node.
  const real = state.ledger.filter(({ simulated }) => !simulated)
  const paid = isSettled && real.some((row) => row.counted && row.state === 'confirmed')
  const seen = real.some((row) => row.state === 'detected' || row.state === 'confirmed')
  const delivered = paid && (await wasDelivered(deps, terms.id))
  const confirming = paid || (seen && state.status === 'confirming')
  const steps = { invoiceId: terms.id, number: terms.number, seen, confirming, paid, delivered }
  if (delivered) return { steps, finding: PASSED }
  if (paid) return { steps, finding: waiting('delivery_waits') }
  const hasEnded = isSettled || state.status === 'expired' || state.status === 'cancelled'
  return { steps, finding: hasEnded ? failed('invoice_ended') : waiting('invoice_waits') }
}

/** The event that settled the invoice reached an endpoint. */
async function wasDelivered({ events, deliveries }: GoLiveDeps, invoiceId: string): Promise<boolean> {
  const all = await events.listByInvoice(invoiceId)
  const settled = all.filter(({ type }) => type === 'invoice.paid' || type === 'invoice.overpaid')
  const sent = await Promise.all(settled.map(({ id }) => deliveries.listByEvent(id)))
  return sent.flat().some(({ status }) => status === 'succeeded')
}
