import type { WebhookEndpoint } from '#shared/db/endpoints/endpoint-model.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Delivery } from '#shared/ports/deliveries.ts'
import type { EventRecord } from '#shared/ports/events.ts'
import type { ClaimedInsert, RoundTimes } from '#shared/usecases/outbox/first-attempts.ts'
import { LEASE_MS, SEND_WITHIN_MS } from './claim-deliveries.ts'
import {
  capOf,
  type DispatchProcess,
  queueOf,
  sendAndRecord,
  takePlaces,
  track,
  wakeWaiting,
} from './dispatch-process.ts'
import { prepareDeliveries } from './prepare-deliveries.ts'

/** The relay's read of an endpoint counts as its check for so long; later the endpoint is read again with the row in hand. */
const FRESH_MS = 1_000

/** A request takes at most this long. */
const REQUEST_MS = 10_000

/** A claimed row and the place it holds. */
interface Held {
  readonly row: Delivery
  readonly give: () => void
}

/**
 * Claims new rows for first attempts. The lease ends 20 s after the store's time of the read of the entries, which was taken after `begunAt`;
 * nothing is sent later than 6 s after `begunAt` by the stopwatch, and a request takes 10 s at most, so no lease ends during a
 * request, whatever the clocks show.
 */
export function claimInserted(
  self: DispatchProcess,
  rows: readonly Delivery[],
  endpoints: readonly WebhookEndpoint[],
  times: RoundTimes,
): ClaimedInsert {
  const leaseToken = self.deps.random.uuid()
  const enabled = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.status === 'enabled'] as const))
  const held = new Map<string, Held>()
  const inserted = rows.map((row) => {
    if (enabled.get(row.endpointId) !== true || !hasRoom(self, row.endpointId)) return row
    const give = takePlaces(self, 'normal', row.endpointId, 1)
    const claimed = { ...row, leaseToken, claims: 1, dueAt: times.storeNow + LEASE_MS }
    held.set(row.id, { row: claimed, give: () => give(1) })
    return claimed
  })
  const giveBack = (places: readonly Held[]): void => {
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
  const cap = capOf(self, endpointId)
  return (
    !self.stopping &&
    !cap.isSlow(self.deps.clock.now()) &&
    cap.ownRoom() > 0 &&
    self.lanes.normal.free() > 0 &&
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
  held: readonly Held[],
  giveBack: (places: readonly Held[]) => void,
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
async function release(self: DispatchProcess, places: readonly Held[], leaseToken: string): Promise<void> {
  if (places.length === 0) return
  await self.deps.deliveries.release(
    places.map(({ row }) => row.id),
    leaseToken,
  )
  for (const endpointId of new Set(places.map(({ row }) => row.endpointId))) {
    self.deps.notifier.notify(queueOf(self, endpointId), endpointId)
  }
}
