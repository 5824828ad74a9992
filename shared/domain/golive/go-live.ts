import type { Ms } from '../invoice/model.ts'

/** What has to be right before real money arrives, in the order in which people go through it. */
export const GO_LIVE_KINDS = [
  'address',
  'nodes',
  'second_source',
  'webhook',
  'second_factor',
  'master_key',
  'backup',
  'mail',
  'payment',
] as const
export type GoLiveKind = (typeof GO_LIVE_KINDS)[number]

/** Why an item did not pass. `about` of the result names networks, hosts or people. */
export const GO_LIVE_REASONS = [
  'no_wallet',
  'address_differs',
  'no_node',
  'node_silent',
  'quota_used',
  'one_source',
  'no_endpoint',
  'webhook_untested',
  'webhook_failing',
  'factor_missing',
  'backup_missing',
  'backup_unverified',
  'mail_failed',
  'mail_waits',
  'invoice_waits',
  'delivery_waits',
  'invoice_ended',
] as const
export type GoLiveReason = (typeof GO_LIVE_REASONS)[number]

/** The stored result of one item. */
export interface GoLiveResult {
  /** A kind, or a kind, a colon and the wallet or network that it is about. */
  readonly item: string
  readonly outcome: 'passed' | 'failed' | 'pending'
  readonly at: Ms
  readonly by: string
  /** What the result depends on: with another evidence it is out of date. */
  readonly evidence: string
  readonly reason: GoLiveReason | null
  readonly about: string
  /** The mail or invoice that a pending or ended try is about; null without one. */
  readonly ref: string | null
}

/** `open`: never tried, or a try is under way. */
export type GoLiveState = 'open' | 'passed' | 'failed' | 'out_of_date'

const DAY_MS: Ms = 86_400_000

/** How long a result counts, milliseconds. What changes without a trace here is looked at again sooner. */
export const GO_LIVE_LIFE_MS: Readonly<Record<GoLiveKind, Ms>> = {
  address: 365 * DAY_MS,
  nodes: 7 * DAY_MS,
  second_source: 30 * DAY_MS,
  webhook: 30 * DAY_MS,
  second_factor: 30 * DAY_MS,
  master_key: 365 * DAY_MS,
  backup: 8 * DAY_MS,
  mail: 90 * DAY_MS,
  payment: 180 * DAY_MS,
}

/** The kind of an item. Throws TypeError for a text that is no item. */
export function kindOf(item: string): GoLiveKind {
  const [head] = item.split(':')
  const kind = GO_LIVE_KINDS.find((known) => known === head)
  if (kind === undefined) throw new TypeError(`no item ${item}`)
  return kind
}

/** The state of an item now. A result for other evidence, one from the future, and one past its life count for nothing. */
export function goLiveState(item: string, stored: GoLiveResult | null, evidence: string, now: Ms): GoLiveState {
  if (stored === null) return 'open'
  const age = now - stored.at
  // A minute covers clocks that differ a little.
  if (stored.evidence !== evidence || age > GO_LIVE_LIFE_MS[kindOf(item)] || age < -60_000) return 'out_of_date'
  return stored.outcome === 'pending' ? 'open' : stored.outcome
}
