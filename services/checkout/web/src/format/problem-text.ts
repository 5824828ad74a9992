import type { NoOption } from '#shared/contracts/checkout/invoice-view.ts'
import type { FiatCode } from '#shared/domain/enumerations.ts'
import type { MessageKey } from '../locales/en.ts'
import type { Speech } from '../locales/speech.ts'
import { durationText, fiatText, roughText } from './format-values.ts'

/** Why a request failed. */
export interface Problem {
  /** Code of the error table, or `OFFLINE` without a response. */
  readonly code: string
  readonly status: number
  /** Seconds until a retry makes sense; null when unknown. */
  readonly retryAfter: number | null
  readonly paths: readonly string[]
}

const WORDS: Readonly<Record<string, MessageKey>> = {
  INVALID_STATE: 'problem.state',
  RATES_UNAVAILABLE: 'problem.rates',
  NO_WALLET_FOR_ASSET: 'problem.asset',
  AMOUNT_BELOW_MINIMUM: 'problem.minimum',
  WORKSPACE_SUSPENDED: 'pick.suspended',
  WORKSPACE_RESTRICTED: 'pick.suspended',
  PLAN_LIMIT_REACHED: 'problem.plan',
  OFFLINE: 'problem.offline',
}

/** Explains a problem to a payer, and how to resolve it. */
export function problemText({ say }: Speech, { code, status, retryAfter, paths }: Problem, merchant: string): string {
  if (code === 'RATE_LIMITED') {
    return say(paths.includes('connection') ? 'problem.connection' : 'problem.limit', {
      t: waitText(retryAfter ?? 60),
    })
  }
  if (code === 'NO_WALLET_FOR_ASSET' && retryAfter !== null) {
    return say('problem.address', { t: waitText(retryAfter) })
  }
  // What the server was doing when it failed may be done: a request that is sent again is the same one.
  return say(WORDS[code] ?? (status >= 500 ? 'problem.offline' : 'problem.other'), { m: merchant })
}

/**
 * What an answer without data proves. `unknown`: our server looked, and has nothing under this id. `busy`: it was asked too often. `away`: nothing;
 * a proxy's own 404, 401 or 410 is no answer of ours, and a store that fails says nothing about what it holds.
 */
export function meaningOf({ code, status }: Problem): 'unknown' | 'busy' | 'away' {
  if (code === 'NOT_FOUND') return 'unknown'
  return status === 429 ? 'busy' : 'away'
}

/** Of two answers without data, one after the other, the one that the page shows: only data undoes that an id is unknown. */
export const lastingOf = (before: Problem | null, next: Problem): Problem =>
  before !== null && meaningOf(before) === 'unknown' ? before : next

/** True when the server checked the request: repeating it would give the same result. */
export function isFinal({ status }: Problem): boolean {
  return status >= 400 && status < 500 && status !== 429
}

/** Why no coin can pay a price, with the amount that would do. */
export function noneText({ say, locale }: Speech, none: NoOption, currency: FiatCode, merchant: string): string {
  const a = none.cause === 'too_small' ? none.least : none.cause === 'too_large' ? none.most : null
  return say(`none.${none.cause}`, {
    m: merchant,
    a: a === null ? '' : fiatText({ value: a, currency }, locale(currency)),
  })
}

/** A wait in seconds or, where longer, in whole minutes or hours. */
export const waitText = (seconds: number): string =>
  seconds < 60 ? durationText(seconds * 1_000) : roughText(seconds * 1_000)
