import type { Ms } from '#shared/domain/invoice/model.ts'
import type { DeliveryRepository } from '#shared/ports/deliveries.ts'
import type { WebhookEndpoint } from '#shared/ports/endpoints.ts'
import { QUEUES, type QueueNotifier, type Runtime } from '#shared/ports/runtime.ts'
import type { After, Stopwatch } from '#shared/ports/timers.ts'
import {
  CLAIM_ROWS_MAX,
  type ClaimedRows,
  createDeliveryClaimer,
  type DeliveryClaimer,
  type DeliveryClaimerDeps,
} from './claim-deliveries.ts'
import { createDeliveryCap, type DeliveryCap } from './delivery-cap.ts'
import { createSlots, type Slots } from './delivery-slots.ts'
import { createOutcomeRecorder, type OutcomeRecorder } from './record-outcomes.ts'
import { reportAttempt } from './report-attempt.ts'
import { type ClaimedDelivery, type SendDeliveryDeps, sendDelivery } from './send-delivery.ts'
import { type WarnFailingEndpointDeps, warnFailingEndpoint } from './warn-failing-endpoint.ts'

/** One turn of one endpoint ends after this long or this many sends; then other endpoints take their turns. */
const TURN_MS = 2_000
const TURN_SENDS = 64
/** Small claims cost the store most: a busy endpoint waits this long for more places before it claims a few. */
const GATHER_MS = 10
/** A row that has been due for this long was missed by its wake-up. */
const OVERDUE_MS = 1_000
/** How far ahead the sweep schedules wake-ups; more than one sweep interval, so that no retry falls between. */
const AHEAD_MS = 2_500
const SWEEP_LIMIT = 1_000

/** `normal` serves everyone; endpoints that timed out in the last minute use `slow`, so they cannot exhaust the normal lane. */
export type DispatchLane = 'normal' | 'slow'

export interface DispatchDeliveriesDeps
  extends Runtime,
    DeliveryClaimerDeps,
    SendDeliveryDeps,
    Omit<WarnFailingEndpointDeps, 'deliveries'> {
  readonly deliveries: DeliveryRepository
  readonly notifier: QueueNotifier
  readonly after: After
  readonly stopwatch: Stopwatch
  /** Requests in flight in this process, by lane. */
  readonly maxInFlight: Readonly<Record<DispatchLane, number>>
}

/** Sends due deliveries, endpoint by endpoint. One per process. */
export interface Dispatcher {
  /**
   * One turn of one endpoint: claims due rows, never more than may be in flight, and sends them. Returns when nothing
   * more is due or the turn is over, while the last requests may still be in flight. Safe to run for the same
   * endpoint in several processes at once. Throws when the store fails; the rows fall due again when their lease ends.
   */
  drain(lane: DispatchLane, endpointId: string): Promise<void>
  /** Endpoints with rows due for more than a second, for the sweep; schedules wake-ups for those due within the next seconds. */
  overdue(lane: DispatchLane): Promise<readonly string[]>
  /** Resolves when no turn runs, no request is in flight and every outcome is written. */
  idle(): Promise<void>
  /** Claims nothing more, waits for requests in flight, and gives unsent claims back without consuming their attempts. */
  stop(): Promise<void>
}

interface Process {
  readonly deps: DispatchDeliveriesDeps
  readonly claimer: DeliveryClaimer
  readonly recorder: OutcomeRecorder
  readonly lanes: Readonly<Record<DispatchLane, Slots>>
  readonly caps: Map<string, DeliveryCap>
  /** Endpoints whose turn ended because no place was free: the next free place wakes them. */
  readonly waitingForSlot: Set<string>
  /** Ids of claimed rows that were not sent, by lease token. */
  readonly unsent: Map<string, string[]>
  readonly work: Set<Promise<unknown>>
  readonly wakeUps: Map<string, () => void>
  stopping: boolean
}

/** A dispatcher that claims nothing until `drain` is called. */
export function createDispatcher(deps: DispatchDeliveriesDeps): Dispatcher {
  const { normal, slow } = deps.maxInFlight
  const self: Process = {
    deps,
    claimer: createDeliveryClaimer(deps),
    recorder: createOutcomeRecorder(deps),
    lanes: { normal: createSlots(() => normal), slow: createSlots(() => slow) },
    caps: new Map(),
    waitingForSlot: new Set(),
    unsent: new Map(),
    work: new Set(),
    wakeUps: new Map(),
    stopping: false,
  }
  const idle = async (): Promise<void> => {
    while (self.work.size > 0) await Promise.allSettled(self.work)
  }
  return {
    drain: (lane, endpointId) => track(self, turn(self, lane, endpointId)),
    overdue: (lane) => overdue(self, lane),
    idle,
    stop: async () => {
      self.stopping = true
      for (const cancel of self.wakeUps.values()) cancel()
      for (const { slots } of self.caps.values()) slots.wake()
      for (const slots of Object.values(self.lanes)) slots.wake()
      await idle()
      await Promise.all([...self.unsent].map(([token, ids]) => deps.deliveries.release(ids, token)))
    },
  }
}

async function turn(self: Process, lane: DispatchLane, endpointId: string): Promise<void> {
  const { clock, notifier } = self.deps
  const cap = capOf(self, endpointId)
  const isMisplaced = (): boolean => lane === 'normal' && cap.isSlow(clock.now())
  const until = clock.now() + TURN_MS
  let sent = 0
  let gathered = false
  while (!self.stopping && !isMisplaced() && sent < TURN_SENDS && clock.now() < until) {
    const room = Math.min(cap.slots.free(), self.lanes[lane].free(), TURN_SENDS - sent)
    if (room === 0) {
      await freed(self, cap.slots.free() === 0 ? cap.slots : self.lanes[lane], until - clock.now())
    } else if (!gathered && sent > 0 && room < cap.limit() / 2 && sent + room < TURN_SENDS) {
      gathered = true
      await freed(self, cap.slots, GATHER_MS)
    } else {
      gathered = false
      const claimed = await claimAndSend(self, lane, endpointId, Math.min(room, CLAIM_ROWS_MAX))
      sent += claimed.count
      if (!claimed.mayHaveMore) return
    }
  }
  if (self.stopping) return
  // To the tail of its queue, so that endpoints take turns; an endpoint without a free place is woken by the next request that ends.
  if (cap.slots.free() > 0) notifier.notify(queueOf(self, endpointId), endpointId)
  else self.waitingForSlot.add(endpointId)
}

/** Takes `room` places for the claim and sends the claimed rows; places of rows that are not sent are given back. */
async function claimAndSend(self: Process, lane: DispatchLane, endpointId: string, room: number): Promise<ClaimedRows> {
  const { deps } = self
  const cap = capOf(self, endpointId)
  const give = (count: number): void => {
    cap.slots.give(count)
    self.lanes[lane].give(count)
    deps.metrics.gauge('webhook_in_flight', self.lanes[lane].taken(), { lane })
  }
  cap.slots.take(room)
  self.lanes[lane].take(room)
  let launched = 0
  try {
    const rows = await self.claimer.claim(endpointId, room)
    // A claim that took too long is left to its lease: another process may send a row after that.
    if (self.stopping || deps.clock.now() >= rows.sendBefore) {
      for (const claimed of rows.ready) keepUnsent(self, claimed)
      return rows
    }
    for (const claimed of rows.ready) {
      launched += 1
      void track(
        self,
        sendAndRecord(self, claimed, cap, () => give(1)),
      )
    }
    return rows
  } finally {
    if (launched < room) {
      give(room - launched)
      wakeWaiting(self, endpointId)
    }
  }
}

function keepUnsent(self: Process, { leaseToken, delivery }: ClaimedDelivery): void {
  const ids = self.unsent.get(leaseToken)
  if (ids === undefined) self.unsent.set(leaseToken, [delivery.id])
  else ids.push(delivery.id)
}

/** Every place given back, by a request or by a claim, wakes an endpoint whose turn ended because none was free. */
function wakeWaiting(self: Process, endpointId: string): boolean {
  const waited = self.waitingForSlot.delete(endpointId)
  if (waited) self.deps.notifier.notify(queueOf(self, endpointId), endpointId)
  return waited
}

async function sendAndRecord(
  self: Process,
  claimed: ClaimedDelivery,
  cap: DeliveryCap,
  give: () => void,
): Promise<void> {
  const { deps } = self
  const { delivery, endpoint } = claimed
  const startedAt = deps.clock.now()
  if (delivery.attempt === 0) {
    deps.metrics.observe('webhook_first_attempt_seconds', Math.max(0, startedAt - delivery.createdAt) / 1_000)
  }
  const sent = await sendDelivery(deps, claimed).finally(give)
  if (sent === null) {
    keepUnsent(self, claimed)
    return
  }
  const { outcome } = sent
  cap.record(sent, deps.clock.now())
  deps.metrics.count('webhook_attempts_total', { result: outcome.result })
  deps.metrics.observe('webhook_attempt_seconds', sent.durationMs / 1_000)
  reportAttempt(deps, claimed, sent)
  const recorded = await self.recorder.record(outcome)
  const isDueAtOnce = recorded && outcome.retryAfterMs === 0
  if (!wakeWaiting(self, endpoint.id) && isDueAtOnce) deps.notifier.notify(queueOf(self, endpoint.id), endpoint.id)
  if (recorded && outcome.result === 'failed') await warn(self, endpoint)
}

/** If the mail cannot be written now, the endpoint's next failure writes it, under the same id. */
async function warn(self: Process, endpoint: WebhookEndpoint): Promise<void> {
  try {
    await warnFailingEndpoint(self.deps, endpoint)
  } catch (error) {
    self.deps.logger.error({ err: error, endpointId: endpoint.id }, 'the mail about a failing endpoint was not written')
  }
}

async function overdue(self: Process, lane: DispatchLane): Promise<readonly string[]> {
  const { deliveries, clock } = self.deps
  const due = await deliveries.dueEndpoints(clock.now() + AHEAD_MS, SWEEP_LIMIT)
  const now = clock.now()
  forgetIdle(self, now)
  for (const { endpointId, dueAt } of due) self.claimer.lower(endpointId, dueAt)
  const ours = due.filter(({ endpointId }) => (capOf(self, endpointId).isSlow(now) ? 'slow' : 'normal') === lane)
  for (const { endpointId, dueAt } of ours) if (dueAt > now) wakeAt(self, endpointId, dueAt - now)
  // An endpoint without a free place here keeps its turn: the next request that ends wakes it.
  const forgotten = ours.filter(
    ({ endpointId, dueAt }) => dueAt <= now - OVERDUE_MS && !self.waitingForSlot.has(endpointId),
  )
  return forgotten.map(({ endpointId }) => endpointId)
}

function wakeAt(self: Process, endpointId: string, delayMs: number): void {
  if (self.stopping || self.wakeUps.has(endpointId)) return
  const cancel = self.deps.after(delayMs, () => {
    self.wakeUps.delete(endpointId)
    self.deps.notifier.notify(queueOf(self, endpointId), endpointId)
  })
  self.wakeUps.set(endpointId, cancel)
}

function freed(self: Process, slots: Slots, atMostMs: number): Promise<void> {
  if (self.stopping || atMostMs <= 0) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = self.deps.after(atMostMs, resolve)
    void slots.freed().then(() => {
      cancel()
      resolve()
    })
  })
}

function capOf(self: Process, endpointId: string): DeliveryCap {
  const known = self.caps.get(endpointId)
  if (known !== undefined) return known
  const cap = createDeliveryCap()
  self.caps.set(endpointId, cap)
  return cap
}

/** Prune only above this size: learned caps are worth keeping. */
function forgetIdle(self: Process, now: Ms): void {
  if (self.caps.size <= 10_000) return
  for (const [endpointId, cap] of self.caps) if (cap.isIdle(now)) self.caps.delete(endpointId)
}

function queueOf(self: Process, endpointId: string) {
  return capOf(self, endpointId).isSlow(self.deps.clock.now()) ? QUEUES.webhooksSlow : QUEUES.webhooks
}

function track<T>(self: Process, work: Promise<T>): Promise<T> {
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
