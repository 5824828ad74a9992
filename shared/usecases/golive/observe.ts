import type { NetworkId } from '#shared/domain/enumerations.ts'
import { GO_LIVE_LIFE_MS, type GoLiveReason, type GoLiveResult } from '#shared/domain/golive/go-live.ts'
import type { GoLiveScope } from '#shared/ports/go-live.ts'
import { backupAge } from '#shared/ports/verified-backups.ts'
import { nodeCosts } from '#shared/usecases/networks/node-costs.ts'
import type { GoLiveDeps } from './go-live-deps.ts'
import type { GoLiveFacts } from './go-live-items.ts'

/** Deliveries of an endpoint that are looked through for its newest result. */
const DELIVERIES = 20

/** What a check found about one item. */
export type Observation = Pick<GoLiveResult, 'outcome' | 'reason' | 'about'>

const PASSED: Observation = { outcome: 'passed', reason: null, about: '' }
const failed = (reason: GoLiveReason, about: readonly string[] = []): Observation => ({
  outcome: 'failed',
  reason,
  about: about.join(', ').slice(0, 400),
})

/** Every configured node of a workspace's networks responds, and no quota is used up. */
export async function observeNodes(deps: GoLiveDeps, { mode }: GoLiveScope, facts: GoLiveFacts): Promise<Observation> {
  const { networks } = facts
  if (networks.length === 0) return failed('no_wallet')
  const bare = networks.filter((network) => !deps.catalog.hasNode(network, mode))
  if (bare.length > 0) return failed('no_node', bare)
  const states = await Promise.all(networks.map((network) => deps.nodes.look(mode, network)))
  const silent = networks.flatMap((network, index) =>
    (states[index] ?? [])
      .filter(({ height, fault }) => height === null || fault !== null)
      .map(({ host }) => `${network} (${host})`),
  )
  if (silent.length > 0) return failed('node_silent', silent)
  const { quotas } = await nodeCosts(deps)
  const used = quotas.filter((quota) => quota.mode === mode && isAmong(networks, quota.network))
  const critical = used.filter(({ level }) => level === 'critical').map(({ network }) => network)
  return critical.length > 0 ? failed('quota_used', critical) : PASSED
}

const isAmong = (networks: readonly NetworkId[], network: NetworkId): boolean => networks.includes(network)

/** Every network has nodes at two different hosts. */
export function observeSources(deps: GoLiveDeps, { mode }: GoLiveScope, { networks }: GoLiveFacts): Observation {
  if (networks.length === 0) return failed('no_wallet')
  const single = networks.filter((network) => new Set(deps.nodeHosts(mode, network)).size < 2)
  return single.length > 0 ? failed('one_source', single) : PASSED
}

/**
 * Each endpoint's newest finished delivery succeeded: its receiver answered 2xx to a signed request. Deliveries from before its last
 * change count for nothing, since they were signed with the secret of that time.
 */
export async function observeWebhook(deps: GoLiveDeps, { endpoints }: GoLiveFacts): Promise<Observation> {
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
export function observeSecondFactor({ people }: GoLiveFacts): Observation {
  const bare = people.filter(({ totp }) => totp === null).map(({ email }) => email)
  return people.length === 0 || bare.length > 0 ? failed('factor_missing', bare) : PASSED
}

/** A back-up that holds the data of a moment within the last eight days was read to its end and is whole. */
export async function observeBackup({ goLive, verifiedBackups, clock }: GoLiveDeps): Promise<Observation> {
  const [madeAt, verified] = await Promise.all([goLive.lastBackupAt(), verifiedBackups.latest()])
  const isRecent = (at: number) => clock.now() - at <= GO_LIVE_LIFE_MS.backup
  if (backupAge(verified, clock.now()) <= GO_LIVE_LIFE_MS.backup) return PASSED
  return failed(madeAt !== null && isRecent(madeAt) ? 'backup_unverified' : 'backup_missing')
}

/** The test mail was accepted by the mail server. Null while none was asked for. */
export async function observeMail(deps: GoLiveDeps, stored: GoLiveResult | null): Promise<Observation | null> {
  if (stored === null || stored.ref === null || stored.outcome === 'passed') return null
  const mail = await deps.mailQueue.findById(stored.ref)
  if (mail?.status === 'sent') return PASSED
  if (mail === null || mail.status === 'failed') return failed('mail_failed')
  return { outcome: 'pending', reason: 'mail_waits', about: '' }
}

/** Steps of a self-payment, as far as they were reached. */
export interface PaymentSteps {
  readonly invoiceId: string
  readonly number: number
  readonly seen: boolean
  readonly confirming: boolean
  readonly paid: boolean
  readonly delivered: boolean
}

/** How far the self-payment of an item got; null without one. An invoice of another workspace is none. */
export async function paymentSteps(
  deps: GoLiveDeps,
  { workspaceId, mode }: GoLiveScope,
  stored: GoLiveResult | null,
): Promise<(PaymentSteps & { readonly observed: Observation }) | null> {
  const invoice = stored?.ref == null ? null : await deps.invoices.findById(stored.ref)
  if (invoice === null || invoice.terms.workspaceId !== workspaceId || invoice.terms.mode !== mode) return null
  const { state, terms } = invoice
  const isSettled = state.status === 'paid' || state.status === 'overpaid'
  // Simulated payments show nothing about a wallet or a node.
  const real = state.ledger.filter(({ simulated }) => !simulated)
  const paid = isSettled && real.some((row) => row.counted && row.state === 'confirmed')
  const seen = real.some((row) => row.state === 'detected' || row.state === 'confirmed')
  const delivered = paid && (await wasDelivered(deps, terms.id))
  const steps = {
    invoiceId: terms.id,
    number: terms.number,
    seen,
    confirming: paid || (seen && state.status === 'confirming'),
    paid,
    delivered,
  }
  if (delivered) return { ...steps, observed: PASSED }
  if (paid) return { ...steps, observed: { outcome: 'pending', reason: 'delivery_waits', about: '' } }
  const hasEnded = isSettled || state.status === 'expired' || state.status === 'cancelled'
  if (hasEnded) return { ...steps, observed: failed('invoice_ended') }
  return { ...steps, observed: { outcome: 'pending', reason: 'invoice_waits', about: '' } }
}

/** The event that settled the invoice reached an endpoint. */
async function wasDelivered({ events, deliveries }: GoLiveDeps, invoiceId: string): Promise<boolean> {
  const all = await events.listByInvoice(invoiceId)
  const settled = all.filter(({ type }) => type === 'invoice.paid' || type === 'invoice.overpaid')
  const sent = await Promise.all(settled.map(({ id }) => deliveries.listByEvent(id)))
  return sent.flat().some(({ status }) => status === 'succeeded')
}
