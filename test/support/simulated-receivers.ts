import { createDeliveryCap, type LaneBounds } from '#shared/usecases/deliveries/delivery-cap.ts'

/** A receiver on a virtual clock: how a request that arrives at `now`, in ms, is answered. `luck` is uniform in [0, 1). */
export type SimulatedReceiver = (request: { readonly now: number; luck(): number }) => {
  readonly durationMs: number
  readonly error: string | null
}

export const constant =
  (durationMs: number): SimulatedReceiver =>
  () => ({ durationMs, error: null })

/** Log-normal around a median, as web servers answer. */
export const jittery =
  (medianMs: number, spread: number): SimulatedReceiver =>
  ({ luck }) => {
    const normal = Math.sqrt(-2 * Math.log(luck() + 1e-12)) * Math.cos(2 * Math.PI * luck())
    return { durationMs: medianMs * Math.exp(spread * normal), error: null }
  }

/** Works on a share of the events, and ignores the others at once. */
export const mixed =
  (share: number, workMs: number, ignoreMs: number): SimulatedReceiver =>
  ({ luck }) => ({ durationMs: luck() < share ? workMs : ignoreMs, error: null })

/** A shop of `workers`, one request each at a time, and a queue in front of them. */
export function queueing(workers: number, serviceMs: number | ((luck: () => number) => number)): SimulatedReceiver {
  const freeAt = Array.from({ length: workers }, () => 0)
  return ({ now, luck }) => {
    freeAt.sort((left, right) => left - right)
    const doneAt = Math.max(now, freeAt[0] ?? 0) + (typeof serviceMs === 'number' ? serviceMs : serviceMs(luck))
    freeAt[0] = doneAt
    return doneAt - now > 10_000 ? { durationMs: 10_000, error: 'timeout' } : { durationMs: doneAt - now, error: null }
  }
}

interface SendPlan {
  /** Events a second, evenly, over the processes in turn. */
  readonly rate: number
  readonly seconds: number
  readonly processes: number
  readonly bounds: LaneBounds
  /** Deliveries that wait already. */
  readonly backlog?: number
}

/** A turn out of the queue ends after this long, or this long without a place. */
const TURN_MS = 2_000
const STUCK_MS = 200

interface Step {
  readonly at: number
  run(): void
}

/**
 * Sends to one receiver from several processes, each with its own cap, as the dispatcher does: first attempts with the their own places
 * process, and what waits in turns, of which there is one at a time. Returns what waited and was in flight at each second.
 */
export function simulateSending(receiver: SimulatedReceiver, sending: SendPlan) {
  const { rate, seconds, processes, bounds } = sending
  const luck = seeded(1)
  const caps = Array.from({ length: processes }, () => createDeliveryCap(() => processes, bounds))
  for (const cap of caps) cap.setHighest(64)
  const steps = createTimeline()
  const seen = { waiting: [] as number[], inFlight: [] as number[], answered: 0, succeeded: 0 }
  let waiting = sending.backlog ?? 0
  let inFlight = 0
  let turn = { process: 0, since: 0 }
  const send = (process: number, now: number) => {
    const cap = caps[process]
    if (cap === undefined) return
    cap.slots.take(1)
    inFlight += 1
    const { durationMs, error } = receiver({ now, luck })
    steps.add(now + durationMs, () => {
      inFlight -= 1
      seen.answered += 1
      if (error === null) seen.succeeded += 1
      cap.slots.give(1)
      cap.record({ error, durationMs }, now + durationMs)
      drain(now + durationMs)
    })
  }
  const free = () => caps[turn.process]?.slots.free() ?? 0
  const drain = (now: number) => {
    const lasted = now - turn.since
    if (lasted > TURN_MS || (free() < 1 && lasted > STUCK_MS))
      turn = { process: (turn.process + 1) % processes, since: now }
    for (; waiting > 0 && free() > 0; waiting -= 1) send(turn.process, now)
  }
  const arrive = (index: number): void => {
    const now = (index * 1_000) / rate
    const process = index % processes
    if (waiting === 0 && (caps[process]?.ownRoom() ?? 0) >= 1) send(process, now)
    else waiting += 1
    drain(now)
    steps.add(((index + 1) * 1_000) / rate, () => arrive(index + 1))
  }
  arrive(0)
  for (let second = 1; second <= seconds; second += 1) {
    steps.runUntil(second * 1_000)
    seen.waiting.push(waiting)
    seen.inFlight.push(inFlight)
  }
  return { ...seen, latencyMs: caps[0]?.speed().latencyMs ?? null }
}

/** Steps in order of their time: a binary heap. */
function createTimeline() {
  const heap: Step[] = []
  const isEarlier = (one: number, other: number) => (heap[one]?.at ?? Infinity) < (heap[other]?.at ?? Infinity)
  const swap = (one: number, other: number) => {
    const [first, second] = [heap[one], heap[other]]
    if (first === undefined || second === undefined) return
    heap[one] = second
    heap[other] = first
  }
  const take = (): Step | undefined => {
    const top = heap[0]
    const last = heap.pop()
    if (last !== undefined && heap.length > 0) heap[0] = last
    for (let at = 0; ; ) {
      const child = isEarlier(2 * at + 2, 2 * at + 1) ? 2 * at + 2 : 2 * at + 1
      if (!isEarlier(child, at)) return top
      swap(at, child)
      at = child
    }
  }
  return {
    add: (at: number, run: () => void) => {
      heap.push({ at, run })
      for (let child = heap.length - 1; child > 0; ) {
        const parent = (child - 1) >> 1
        if (!isEarlier(child, parent)) return
        swap(child, parent)
        child = parent
      }
    },
    runUntil: (end: number) => {
      while ((heap[0]?.at ?? Infinity) <= end) take()?.run()
    },
  }
}

/** Numerical Recipes' linear congruential generator: the same luck in every run. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
