import type { LimitedBy, WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { ClaimedInsert, FirstAttempts, RoundTimes } from '#shared/usecases/outbox/first-attempts.ts'
import { CLAIM_ROWS_MAX, type ClaimedRows, LEASE_MS, prepareDeliveries, SEND_WITHIN_MS } from './claim.ts'
import type { Slots } from './delivery-cap.ts'
import {
  allowFor,
  capOf,
  createDispatchProcess,
  type DispatchDeliveriesDeps,
  type DispatchLane,
  type DispatchProcess,
  type DueAnswer,
  hasFreePlaces,
  isSlow,
  keepUnsent,
  queueOf,
  roomOf,
  sendAndRecord,
  takePlaces,
  track,
  wakeWaiting,
} from './dispatch-process.ts'

/** One turn of one endpoint ends after this long or this many sends; then other endpoints take their turns. */
const TURN_MS = 2_000
const TURN_SENDS = 64
/** Small claims cost the store most: a busy endpoint waits this long for more places before it claims a few. */
const GATHER_MS = 10
/** A turn waits at most this long for a place: a worker's slot is worth more than the way through the queue. */
const WAIT_MS = 200
/** A row that has been due for this long was missed by its wake-up. */
const OVERDUE_MS = 1_000
/** How far ahead the sweep schedules wake-ups; more than one sweep interval and the age of a shared answer, so that no retry falls between. */
const AHEAD_MS = 2_500
const SWEEP_LIMIT = 1_000
/** The answer to one lane's query serves the other lane for this long. */
const SHARED_MS = 1_000
/** Turns that the relay of this process starts without a queue; beyond it, the queue decides who serves which endpoint. */
const DIRECT_TURNS_MAX = 64

/** Sends due deliveries, endpoint by endpoint, and first attempts of the relay. One per process. */
export interface Dispatcher {
  /**
   * One turn of one endpoint: claims due rows, never more than may be in flight, and sends them. Returns when nothing
   * more is due or the turn is over, while the last requests may still be in flight. Safe to run for the same
   * endpoint in several processes at once. Throws when the store fails; the rows fall due again when their lease ends.
   */
  drain(lane: DispatchLane, endpointId: string): Promise<void>
  /** Endpoints with rows due for more than a second, for the sweep; schedules wake-ups for those due within the next seconds. */
  overdue(lane: DispatchLane): Promise<readonly string[]>
  /** Claims new rows of the relay that this process may send at once. */
  readonly claimInserted: FirstAttempts['claim']
  /** Serves pending rows that the relay inserted: by a turn here, or by a free process. Returns at once. */
  wake(endpointId: string): void
  /** Endpoints that had due rows and no free place of their own since the last call, with what this process measured of them. */
  takeLimited(): ReadonlyMap<string, LimitedBy>
  /** Resolves when no turn runs, no request is in flight and every outcome is written. */
  idle(): Promise<void>
  /** Claims nothing more, waits for requests in flight, and gives unsent claims back without consuming their attempts. */
  stop(): Promise<void>
}

/** A dispatcher that claims nothing until it is called. */
export function createDispatcher(deps: DispatchDeliveriesDeps): Dispatcher {
  const self = createDispatchProcess(deps)
  const idle = async (): Promise<void> => {
    while (self.work.size > 0) await Promise.allSettled(self.work)
  }
  return {
    drain: (lane, endpointId) => track(self, turn(self, lane, endpointId)),
    overdue: (lane) => overdue(self, lane),
    claimInserted: (rows, endpoints, times) => claimInserted(self, rows, endpoints, times),
    wake: (endpointId) => wake(self, endpointId),
    takeLimited: () => {
      const limited = new Map(self.limited)
      self.limited.clear()
      return limited
    },
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

/** `isDirect`: no queue gave this turn, so it takes only places of this process's own share. */
async function turn(self: DispatchProcess, lane: DispatchLane, endpointId: string, isDirect = false): Promise<void> {
  self.turns.set(endpointId, (self.turns.get(endpointId) ?? 0) + 1)
  try {
    await serve(self, lane, endpointId, isDirect)
  } finally {
    const others = (self.turns.get(endpointId) ?? 1) - 1
    if (others === 0) self.turns.delete(endpointId)
    else self.turns.set(endpointId, others)
  }
}

async function serve(self: DispatchProcess, lane: DispatchLane, endpointId: string, isDirect: boolean): Promise<void> {
  const { clock, notifier } = self.deps
  const cap = capOf(self, endpointId)
  const isMisplaced = (): boolean => lane === 'normal' && isSlow(self, endpointId)
  const until = clock.now() + TURN_MS
  let sent = 0
  let waited: 'no' | 'more' | 'any' = 'no'
  // Somebody says that rows are due: nothing new overtakes them until the first claim has begun.
  if (self.turns.get(endpointId) === 1) self.behind.add(endpointId)
  while (!self.stopping && !isMisplaced() && sent < TURN_SENDS && clock.now() < until) {
    // The share is used up: the turn that the queue gives, here or elsewhere, may use the rest.
    if (isDirect && cap.ownRoom() < 1 && self.deps.processes() > 1) {
      notifier.notify(queueOf(self, endpointId), endpointId)
      return
    }
    const room = Math.min(roomOf(self, lane, endpointId, isDirect), TURN_SENDS - sent)
    if (room < 1) {
      if (waited === 'any') break
      waited = 'any'
      await freed(self, cap.slots.free() === 0 ? cap.slots : self.lanes[lane], Math.min(WAIT_MS, until - clock.now()))
    } else if (waited !== 'more' && sent > 0 && room < cap.limit() / 2 && sent + room < TURN_SENDS) {
      waited = 'more'
      await freed(self, cap.slots, GATHER_MS)
    } else {
      waited = 'no'
      // Rows inserted from now on may be missed by this claim.
      self.behind.delete(endpointId)
      const claimed = await claimAndSend(self, lane, endpointId, Math.min(room, CLAIM_ROWS_MAX))
      sent += claimed.count
      if (claimed.mayHaveMore) self.behind.add(endpointId)
      else if (!self.behind.has(endpointId)) return
    }
  }
  if (self.stopping) return
  const isBlocked = roomOf(self, lane, endpointId, false) < 1
  if (isBlocked && (cap.slots.free() === 0 || hasFreePlaces(self, lane))) self.limited.set(endpointId, cap.speed())
  // To the tail of its queue, so that endpoints take turns; an endpoint without a free place is woken by its next request that ends.
  if (isBlocked && cap.slots.taken() > 0) self.waitingForSlot.add(endpointId)
  else notifier.notify(queueOf(self, endpointId), endpointId)
}

function wake(self: DispatchProcess, endpointId: string): void {
  self.behind.add(endpointId)
  const isWaiting = self.waitingForSlot.has(endpointId)
  // A running turn looks again before it ends; in a lone process an endpoint without a free place is woken by the next request that ends.
  if (!self.stopping && (self.turns.has(endpointId) || (isWaiting && self.deps.processes() < 2))) return
  if (self.stopping || isWaiting || isSlow(self, endpointId) || self.turns.size >= DIRECT_TURNS_MAX) {
    self.deps.notifier.notify(queueOf(self, endpointId), endpointId)
  } else {
    track(self, turn(self, 'normal', endpointId, true)).catch(() => undefined)
  }
}

/** Takes `room` places for the claim and sends the claimed rows; places of rows that are not sent are given back. */
async function claimAndSend(
  self: DispatchProcess,
  lane: DispatchLane,
  endpointId: string,
  room: number,
): Promise<ClaimedRows> {
  const give = takePlaces(self, lane, endpointId, room)
  let launched = 0
  try {
    const rows = await self.claimer.claim(endpointId, room)
    for (const { endpoint } of rows.ready.slice(0, 1)) allowFor(self, endpoint)
    // A claim that took too long is left to its lease: another process may send a row after that.
    if (self.stopping || self.deps.clock.now() >= rows.sendBefore) {
      for (const claimed of rows.ready) keepUnsent(self, claimed)
      return rows
    }
    for (const claimed of rows.ready) {
      launched += 1
      void track(
        self,
        sendAndRecord(self, claimed, () => give(1)),
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

async function overdue(self: DispatchProcess, lane: DispatchLane): Promise<readonly string[]> {
  const answer = dueFor(self, lane)
  const { requestedAt } = answer
  const due = await answer.due
  const now = self.deps.clock.now()
  for (const { endpointId, dueAt } of due) self.claimer.lower(endpointId, dueAt)
  const ours = due.filter(({ endpointId }) => (isSlow(self, endpointId) ? 'slow' : 'normal') === lane)
  // What fell due since the question is woken at once.
  for (const { endpointId, dueAt } of ours) if (dueAt > requestedAt) wakeAt(self, endpointId, Math.max(0, dueAt - now))
  // An endpoint without a free place here keeps its turn: the next request that ends wakes it. Rows that were not overdue when the
  // store was queried may have been sent since.
  const forgotten = ours.filter(
    ({ endpointId, dueAt }) => dueAt <= requestedAt - OVERDUE_MS && !self.waitingForSlot.has(endpointId),
  )
  for (const { endpointId } of forgotten) self.behind.add(endpointId)
  return forgotten.map(({ endpointId }) => endpointId)
}

/** Due endpoints of both lanes: the other lane's query serves this lane as well, once and for a second. */
function dueFor(self: DispatchProcess, lane: DispatchLane): DueAnswer {
  const last = self.dueAnswer
  self.dueAnswer = null
  const now = self.deps.clock.now()
  if (last !== null && last.lane !== lane && now - last.requestedAt < SHARED_MS && now >= last.requestedAt) return last
  const answer = { lane, requestedAt: now, due: self.deps.deliveries.dueEndpoints(now + AHEAD_MS, SWEEP_LIMIT) }
  self.dueAnswer = answer
  return answer
}

function wakeAt(self: DispatchProcess, endpointId: string, delayMs: Ms): void {
  if (self.stopping || self.wakeUps.has(endpointId)) return
  const cancel = self.deps.after(delayMs, () => {
    self.wakeUps.delete(endpointId)
    self.deps.notifier.notify(queueOf(self, endpointId), endpointId)
  })
  self.wakeUps.set(endpointId, cancel)
}

function freed(self: DispatchProcess, slots: Slots, atMostMs: number): Promise<void> {
  if (self.stopping || atMostMs <= 0) return Promise.resolve()
  return new Promise((resolve) => {
    const cancel = self.deps.after(atMostMs, resolve)
    void slots.freed().then(() => {
      cancel()
      resolve()
    })
  })
}

/** The relay's read of an endpoint counts as its check for so long; later the endpoint is read again with the row in hand. */
const FRESH_MS = 1_000

/** A request takes at most this long. */
const REQUEST_MS = 10_000

/** A claimed row and the place it holds. */
interface HeldDeliveries {
  readonly row: Delivery
  readonly give: () => void
}

/**
 * Claims new rows for first attempts. The lease ends 20 s after the store's time of the read of the entries, which was taken after `begunAt`;
 * nothing is sent later than 6 s after `begunAt` by the stopwatch, and a request takes 10 s at most, so no lease ends during a
 * request, whatever the clocks show.
 */
function claimInserted(
  self: DispatchProcess,
  rows: readonly Delivery[],
  endpoints: readonly WebhookEndpoint[],
  times: RoundTimes,
): ClaimedInsert {
  const leaseToken = self.deps.random.uuid()
  const enabled = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.status === 'enabled'] as const))
  const held = new Map<string, HeldDeliveries>()
  for (const endpoint of endpoints) allowFor(self, endpoint)
  const inserted = rows.map((row) => {
    if (enabled.get(row.endpointId) !== true || !hasRoom(self, row.endpointId)) return row
    const give = takePlaces(self, 'normal', row.endpointId, 1)
    const claimed = { ...row, leaseToken, claims: 1, dueAt: times.storeNow + LEASE_MS }
    held.set(row.id, { row: claimed, give: () => give(1) })
    return claimed
  })
  const giveBack = (places: readonly HeldDeliveries[]): void => {
    for (const { give } of places) give()
    for (const endpointId of new Set(places.map(({ row }) => row.endpointId))) wakeWaiting(self, endpointId)
  }
  return {
    rows: inserted,
    abandon: () => giveBack([...held.values()]),
    send: (ours, events) => {
      giveBack([...held].filter(([id]) => !ours.has(id)).map(([, place]) => place))
      const mine = [...held].filter(([id]) => ours.has(id)).map(([, place]) => place)
      if (mine.length === 0) return
      const read = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
      // A failure is logged, and the rows leave when their lease ends.
      void track(self, sendHeld(self, mine, giveBack, { leaseToken, events, endpoints: read, times }))
    },
  }
}

/** False where a row would overtake others, or use a place that the slow lane or nobody has. */
function hasRoom(self: DispatchProcess, endpointId: string): boolean {
  return (
    !self.stopping &&
    !isSlow(self, endpointId) &&
    roomOf(self, 'normal', endpointId, true) > 0 &&
    !self.behind.has(endpointId) &&
    !self.waitingForSlot.has(endpointId)
  )
}

interface Round {
  readonly leaseToken: string
  readonly events: ReadonlyMap<string, EventRecord>
  readonly endpoints: ReadonlyMap<string, WebhookEndpoint>
  readonly times: RoundTimes
}

async function sendHeld(
  self: DispatchProcess,
  held: readonly HeldDeliveries[],
  giveBack: (places: readonly HeldDeliveries[]) => void,
  round: Round,
): Promise<void> {
  const left = new Map(held.map((place) => [place.row.id, place]))
  try {
    const isFresh = isWithin(self, round.times.endpointsReadAt, FRESH_MS)
    const readAt = isFresh ? round.times.endpointsReadAt : self.deps.stopwatch()
    const endpoints = isFresh
      ? round.endpoints
      : await self.deps.endpoints.findByIds([...new Set(held.map(({ row }) => row.endpointId))])
    const surroundings = { endpoints, events: round.events }
    const sendTo = async (endpointId: string): Promise<void> => {
      const rows = held.filter(({ row }) => row.endpointId === endpointId).map(({ row }) => row)
      for (const claimed of await prepareDeliveries(self.deps, endpointId, rows, surroundings)) {
        const place = left.get(claimed.delivery.id)
        // The last look at the time before the request: a row is released if its lease may end during it or its endpoint may have changed.
        const isInTime =
          isWithin(self, round.times.begunAt, SEND_WITHIN_MS) &&
          isWithin(self, readAt, FRESH_MS) &&
          // The stopwatch may stand still while a machine sleeps; the clock does not.
          self.deps.clock.now() - round.times.storeNow < LEASE_MS - REQUEST_MS
        if (place === undefined || self.stopping || !isInTime) continue
        left.delete(claimed.delivery.id)
        void track(self, sendAndRecord(self, claimed, place.give))
      }
    }
    // Together: rows of a paused or deleted endpoint are put aside by a write, and the others must not wait for it.
    const prepared = await Promise.allSettled([...new Set(held.map(({ row }) => row.endpointId))].map(sendTo))
    // Only now: a row must not be released while another endpoint's part of the round may still send it.
    for (const part of prepared) if (part.status === 'rejected') throw part.reason
  } finally {
    giveBack([...left.values()])
    await release(self, [...left.values()], round.leaseToken)
  }
}

const isWithin = (self: DispatchProcess, since: Ms, forMs: number): boolean => self.deps.stopwatch() - since < forMs

/** Rows that were not sent are due again at once; where even this write fails, their lease ends. */
async function release(self: DispatchProcess, places: readonly HeldDeliveries[], leaseToken: string): Promise<void> {
  if (places.length === 0) return
  await self.deps.deliveries.release(
    places.map(({ row }) => row.id),
    leaseToken,
  )
  for (const endpointId of new Set(places.map(({ row }) => row.endpointId))) {
    self.deps.notifier.notify(queueOf(self, endpointId), endpointId)
  }
}
