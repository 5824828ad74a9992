import type { DeliveryRepository } from '#shared/db/deliveries/delivery-repository.ts'
import type { LimitedBy, WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import { QUEUES, type Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'
import { createDeliveryClaimer, type DeliveryClaimer, type DeliveryClaimerDeps } from './claim.ts'
import { createDeliveryCap, createSlots, type DeliveryCap, type Slots } from './delivery-cap.ts'
import {
  type ClaimedDelivery,
  createOutcomeRecorder,
  type OutcomeRecorder,
  reportAttempt,
  type SendDeliveryDeps,
  sendDelivery,
  type WarnFailingEndpointDeps,
  warnFailingEndpoint,
} from './send.ts'

/** `normal` serves everyone; endpoints that timed out in the last minute use `slow`, so they cannot exhaust the normal lane. */
export type DispatchLane = 'normal' | 'slow'

export type DispatchDeliveriesDeps = Runtime &
  DeliveryClaimerDeps &
  SendDeliveryDeps &
  Omit<WarnFailingEndpointDeps, 'deliveries'> &
  Uses<'deliveries' | 'notifier' | 'after' | 'stopwatch'> & {
    /** Requests in flight in this process, by lane. */
    readonly maxInFlight: Readonly<Record<DispatchLane, number>>
    /** Requests to one endpoint in flight from all processes, at most; an endpoint's own value may be lower. */
    readonly endpointInFlightMax: number
    /** How many processes send webhooks, this one included: they share the cap of an endpoint. */
    processes(): number
  }

/** The question of one lane's sweep, answered or not. */
export interface DueAnswer {
  readonly lane: DispatchLane
  readonly requestedAt: Ms
  readonly due: ReturnType<DeliveryRepository['dueEndpoints']>
}

/** What the turns and first attempts of one process share. */
export interface DispatchProcess {
  readonly deps: DispatchDeliveriesDeps
  readonly claimer: DeliveryClaimer
  readonly recorder: OutcomeRecorder
  readonly lanes: Readonly<Record<DispatchLane, Slots>>
  /** The endpoint used least recently first. */
  readonly caps: Map<string, DeliveryCap>
  /** Endpoints that had due rows and no free place of their own, since the last report; with their speed. */
  readonly limited: Map<string, LimitedBy>
  /** Endpoints whose turn ended because no place was free: the next free place wakes them. */
  readonly waitingForSlot: Set<string>
  /** Endpoints that may have due rows for which no claim of this process has begun since: nothing new overtakes them. */
  readonly behind: Set<string>
  /** Running turns by endpoint. */
  readonly turns: Map<string, number>
  /** Ids of claimed rows that were not sent, by lease token. */
  readonly unsent: Map<string, string[]>
  readonly work: Set<Promise<unknown>>
  readonly wakeUps: Map<string, () => void>
  /** Null when it has served the other lane. */
  dueAnswer: DueAnswer | null
  stopping: boolean
}

/** The state of a process that has claimed nothing yet. */
export function createDispatchProcess(deps: DispatchDeliveriesDeps): DispatchProcess {
  const { normal, slow } = deps.maxInFlight
  return {
    deps,
    claimer: createDeliveryClaimer(deps),
    recorder: createOutcomeRecorder(deps),
    lanes: { normal: createSlots(() => normal), slow: createSlots(() => slow) },
    caps: new Map(),
    limited: new Map(),
    waitingForSlot: new Set(),
    behind: new Set(),
    turns: new Map(),
    unsent: new Map(),
    work: new Set(),
    wakeUps: new Map(),
    dueAnswer: null,
    stopping: false,
  }
}

/** Signs and sends a claimed row, which holds a place that `give` returns, and records the outcome. Throws nothing that a caller could repair. */
export async function sendAndRecord(self: DispatchProcess, claimed: ClaimedDelivery, give: () => void): Promise<void> {
  const { deps } = self
  const { delivery, endpoint } = claimed
  const cap = capOf(self, endpoint.id)
  const startedAt = deps.clock.now()
  if (delivery.attempt === 0) {
    deps.metrics.observe('webhook_first_attempt_seconds', Math.max(0, startedAt - delivery.createdAt) / 1_000)
  }
  const sent = await sendDelivery(deps, claimed)
    .finally(give)
    .catch((error: unknown) => {
      wakeWaiting(self, endpoint.id)
      throw error
    })
  if (sent === null) {
    keepUnsent(self, claimed)
    wakeWaiting(self, endpoint.id)
    return
  }
  const { outcome } = sent
  cap.record({ error: outcome.attempt.error, durationMs: sent.durationMs }, deps.stopwatch())
  deps.metrics.count('webhook_attempts_total', { result: outcome.result })
  deps.metrics.observe('webhook_attempt_seconds', sent.durationMs / 1_000)
  reportAttempt(deps, claimed, sent)
  const recorded = await self.recorder.record(outcome)
  const isDueAtOnce = recorded && outcome.retryAfterMs === 0
  if (!wakeWaiting(self, endpoint.id) && isDueAtOnce) deps.notifier.notify(queueOf(self, endpoint.id), endpoint.id)
  if (recorded && outcome.result === 'failed') await warn(self, endpoint)
}

/** If the mail cannot be written now, the endpoint's next failure writes it, under the same id. */
async function warn(self: DispatchProcess, endpoint: WebhookEndpoint): Promise<void> {
  try {
    await warnFailingEndpoint(self.deps, endpoint)
  } catch (error) {
    self.deps.logger.error({ err: error, endpointId: endpoint.id }, 'the mail about a failing endpoint was not written')
  }
}

/** Takes `count` places of the endpoint and of the lane; the returned function gives some back. */
export function takePlaces(
  self: DispatchProcess,
  lane: DispatchLane,
  endpointId: string,
  count: number,
): (count: number) => void {
  const cap = capOf(self, endpointId)
  const slots = self.lanes[lane]
  cap.slots.take(count)
  slots.take(count)
  return (given) => {
    cap.slots.give(given)
    slots.give(given)
    self.deps.metrics.gauge('webhook_in_flight', slots.taken(), { lane })
  }
}

/** Remembers a claimed row that was not sent, to release it when the process stops; otherwise its lease ends. */
export function keepUnsent(self: DispatchProcess, { leaseToken, delivery }: ClaimedDelivery): void {
  const ids = self.unsent.get(leaseToken)
  if (ids === undefined) self.unsent.set(leaseToken, [delivery.id])
  else ids.push(delivery.id)
}

/** Every place given back, by a request or by a claim, wakes an endpoint whose turn ended because none was free. */
export function wakeWaiting(self: DispatchProcess, endpointId: string): boolean {
  const waited = self.waitingForSlot.delete(endpointId)
  if (waited) self.deps.notifier.notify(queueOf(self, endpointId), endpointId)
  return waited
}

/** Learned limits of so many endpoints are kept; of more, those of endpoints used least recently are forgotten. */
const CAPS_MAX = 10_000
/** No endpoint holds more than this part of a lane, nor of what the others leave of it. */
const LANE_PART = 8
/** This part of the normal lane is for endpoints that are known to answer within a second. */
const QUICK_PART = 4

/** The cap of an endpoint as this process learned it. */
export function capOf(self: DispatchProcess, endpointId: string): DeliveryCap {
  const { caps, deps } = self
  const known = caps.get(endpointId)
  if (known !== undefined) {
    caps.delete(endpointId)
    caps.set(endpointId, known)
    return known
  }
  const { normal, slow } = deps.maxInFlight
  const eighth = (places: number) => Math.max(1, Math.floor(places / LANE_PART))
  const bounds = { quick: eighth(normal), patient: eighth(normal - forQuick(self)), slow: eighth(slow) }
  const cap = createDeliveryCap(deps.processes, bounds)
  if (caps.size >= CAPS_MAX) forgetOldest(self, deps.stopwatch())
  caps.set(endpointId, cap)
  return cap
}

const forQuick = ({ deps }: DispatchProcess) => Math.floor(deps.maxInFlight.normal / QUICK_PART)

/** True while a quarter of the lane is free: an endpoint that gets no place then is at its own limit. */
export function hasFreePlaces({ deps, lanes }: DispatchProcess, lane: DispatchLane): boolean {
  return lanes[lane].free() >= Math.floor(deps.maxInFlight[lane] / QUICK_PART)
}

function forgetOldest({ caps, turns }: DispatchProcess, now: Ms): void {
  for (const [endpointId, cap] of caps) {
    if (!cap.isIdle(now) || turns.has(endpointId)) continue
    caps.delete(endpointId)
    return
  }
}

/** Sets the most that the endpoint may have in flight, as it was read now. */
export function allowFor(self: DispatchProcess, endpoint: WebhookEndpoint): void {
  const { endpointInFlightMax: most } = self.deps
  capOf(self, endpoint.id).setHighest(Math.min(most, endpoint.inFlightMax ?? most))
}

/**
 * Places that the endpoint may take now; below 1 when none. Besides its cap: an eighth of what it and all others leave free of the
 * lane, one at least, so that however many endpoints answer slowly there are places left for those that answer quickly; and
 * in the normal lane a quarter is for those that are known to be quick. `isOwn`: without a turn out of the queue.
 */
export function roomOf(self: DispatchProcess, lane: DispatchLane, endpointId: string, isOwn: boolean): number {
  const cap = capOf(self, endpointId)
  const free = self.lanes[lane].free() - (lane === 'normal' && !cap.isQuick() ? forQuick(self) : 0)
  const taken = cap.slots.taken()
  const ofLane = Math.max(1, Math.floor((free + taken) / LANE_PART)) - taken
  return Math.min(isOwn ? cap.ownRoom() : cap.slots.free(), free, ofLane)
}

/** Whether the slow lane serves the endpoint now. */
export const isSlow = (self: DispatchProcess, endpointId: string): boolean =>
  capOf(self, endpointId).isSlow(self.deps.stopwatch())

/** The queue of the lane that serves the endpoint now. */
export function queueOf(self: DispatchProcess, endpointId: string) {
  return isSlow(self, endpointId) ? QUEUES.webhooksSlow : QUEUES.webhooks
}

/** Counts as work in flight until it settles; a failure is logged. */
export function track<T>(self: DispatchProcess, work: Promise<T>): Promise<T> {
  const settled: Promise<unknown> = work.then(
    () => self.work.delete(settled),
    (error: unknown) => {
      self.work.delete(settled)
      self.deps.logger.error({ err: error }, 'webhook dispatch failed')
    },
  )
  self.work.add(settled)
  return work
}
