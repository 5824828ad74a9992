import type { Ms } from '#shared/domain/invoice/model.ts'

/** Health of an endpoint, in order of severity. `paused` is the operator's choice; `no_data`: nothing was ever tried. */
export const ENDPOINT_HEALTH_STATES = ['healthy', 'degraded', 'failing', 'paused', 'no_data'] as const
export type EndpointHealthState = (typeof ENDPOINT_HEALTH_STATES)[number]

/** A delivery that was tried at least once. */
export interface TriedDelivery {
  readonly status: 'pending' | 'held' | 'succeeded' | 'failed'
  /** Recorded outcomes so far. */
  readonly attempt: number
  readonly createdAt: Ms
  readonly finishedAt: Ms | null
}

/** Input of the health check. */
export interface EndpointHealthFacts {
  readonly isPaused: boolean
  /** The latest deliveries that were tried at least once, newest first, whatever their status. */
  readonly tried: readonly TriedDelivery[]
  /** Pending deliveries of any age that were tried at least once. */
  readonly retrying: number
  /** When the last one succeeded, as far as known; null when none is known. Successes in `tried` count as well. */
  readonly lastSuccessAt: Ms | null
  /** When the oldest pending delivery is or was due; null when none is pending. */
  readonly oldestDueAt: Ms | null
}

/** The state with the figures behind it. */
export interface EndpointHealthVerdict {
  readonly state: EndpointHealthState
  /** Number of deliveries behind the figures: those of `tried`. */
  readonly tried: number
  /** Of them, delivered by the first attempt. */
  readonly firstTry: number
  /** Of them, delivered so far, by any attempt. */
  readonly delivered: number
  /** Of them, given up after the last attempt. */
  readonly failed: number
  /** HTTP requests made for them, and how many of those failed. */
  readonly attempts: number
  readonly failedAttempts: number
  /** Tried without success since the last successful delivery. */
  readonly sinceSuccess: number
  readonly lastSuccessAt: Ms | null
}

/** Number of latest tried deliveries considered, so that a repaired endpoint is soon healthy again. */
const RECENT = 20
/** Deliveries tried without success in a row after which an endpoint counts as failing; the mail to the owner uses the same number. */
const STREAK = 3
/** In a healthy endpoint at least this share succeeds with the first attempt. */
const FIRST_TRY_MIN_PERCENT = 95
/** Less than this share delivered so far is failing, not degraded. */
const DELIVERED_MIN_PERCENT = 50
/** A delivery overdue for longer shows that the endpoint is too slow for its load. */
const OVERDUE_MAX_MS = 60_000

/**
 * Classifies an endpoint by the results of its attempts, not by ended deliveries: a delivery counts from its first attempt.
 *
 * - `paused`: an operator paused it.
 * - `no_data`: no delivery was tried yet.
 * - `failing`: nothing succeeded since three tries in a row, or ever; or less than half of the latest twenty have succeeded so far.
 * - `degraded`: some deliveries wait for another attempt, or were given up; or fewer than 95 % of the latest twenty succeeded with their
 *   first attempt; or the oldest one has been due for more than a minute.
 * - `healthy`: none of these.
 */
export function classifyEndpointHealth(facts: EndpointHealthFacts, now: Ms): EndpointHealthVerdict {
  const figures = figuresOf(facts.tried, facts.lastSuccessAt)
  return { state: stateOf(facts, figures, now), ...figures }
}

function stateOf(facts: EndpointHealthFacts, figures: Figures, now: Ms): EndpointHealthState {
  if (facts.isPaused) return 'paused'
  if (facts.tried.length === 0) return 'no_data'
  const recent = figuresOf(facts.tried.slice(0, RECENT), facts.lastSuccessAt)
  const isDown = figures.sinceSuccess >= (figures.lastSuccessAt === null ? 1 : STREAK)
  if (isDown || recent.delivered * 100 < recent.tried * DELIVERED_MIN_PERCENT) return 'failing'
  const isOverdue = facts.oldestDueAt !== null && now - facts.oldestDueAt > OVERDUE_MAX_MS
  const isShaky = recent.firstTry * 100 < recent.tried * FIRST_TRY_MIN_PERCENT
  return facts.retrying > 0 || recent.failed > 0 || isOverdue || isShaky ? 'degraded' : 'healthy'
}

type Figures = Omit<EndpointHealthVerdict, 'state'>

function figuresOf(tried: readonly TriedDelivery[], knownSuccessAt: Ms | null): Figures {
  const delivered = tried.filter(({ status }) => status === 'succeeded')
  const successes = [knownSuccessAt, ...delivered.map(({ finishedAt }) => finishedAt)].filter((at) => at !== null)
  const lastSuccessAt = successes.reduce<Ms | null>((last, at) => (last === null || at > last ? at : last), null)
  const attempts = tried.reduce((sum, { attempt }) => sum + attempt, 0)
  return {
    tried: tried.length,
    firstTry: delivered.filter(({ attempt }) => attempt <= 1).length,
    delivered: delivered.length,
    failed: tried.filter(({ status }) => status === 'failed').length,
    attempts,
    failedAttempts: attempts - delivered.length,
    sinceSuccess: tried.filter((one) => one.status !== 'succeeded' && lastTouchedAt(one) > (lastSuccessAt ?? -1))
      .length,
    lastSuccessAt,
  }
}

/** A row does not store the time of its last attempt; it was after the row was created, and a final one ended it. */
const lastTouchedAt = ({ finishedAt, createdAt }: TriedDelivery): Ms => finishedAt ?? createdAt
