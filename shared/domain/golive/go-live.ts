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

/** Why an item has not passed. The `about` beside it names networks, hosts or people. */
export const GO_LIVE_REASONS = [
  'no_wallet',
  'address_differs',
  'no_node',
  'node_silent',
  'node_behind',
  'node_lacking',
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

/** `open`: nobody stated it, or what a person began is under way. `out_of_date`: what was stated counts no more. */
export const GO_LIVE_STATES = ['open', 'passed', 'failed', 'out_of_date'] as const
export type GoLiveState = (typeof GO_LIVE_STATES)[number]

/** What a person did about an item that cannot be computed: an address compared, a key stated, a mail sent or a payment begun. */
export interface GoLiveStatement {
  /** A kind, or a kind, a colon and the wallet or network that it is about. */
  readonly item: string
  readonly at: Ms
  readonly by: string
  /** What the statement depends on: with another evidence it is out of date. */
  readonly evidence: string
  /** False for an address that differs from the derived one. */
  readonly holds: boolean
  /** The mail or invoice that was begun; null without one. */
  readonly ref: string | null
}

const DAY_MS: Ms = 86_400_000

/** How long a statement counts, milliseconds: a mail and the delivery of a payment are stored for as long. */
export const STATEMENT_LIFE_MS = {
  address: 365 * DAY_MS,
  master_key: 365 * DAY_MS,
  mail: 90 * DAY_MS,
  payment: 180 * DAY_MS,
} as const satisfies Partial<Record<GoLiveKind, Ms>>

/** A kind whose items pass by what a person stated or began; all others are computed. */
export type StatementKind = keyof typeof STATEMENT_LIFE_MS

/** Whether a statement counts no more: its life is over, it is dated in the future, or what it depends on has changed. */
export function isOutOfDate(kind: StatementKind, statement: GoLiveStatement, evidence: string, now: Ms): boolean {
  const age = now - statement.at
  // A minute covers clocks that differ a little.
  return statement.evidence !== evidence || age > STATEMENT_LIFE_MS[kind] || age < -60_000
}
