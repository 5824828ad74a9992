import type { Prng } from '../kernel/prng.ts'

/** How hostile one seed's world is. Probabilities are per call or per event; a seed has some faults and lacks others. */
export interface FaultMix {
  /** F1: a process dies at a call, before or after it took effect; restarted 0–600 s later. */
  readonly crashPerWrite: number
  readonly crashPerRead: number
  readonly crashesMax: number
  /** A process is stopped for a while and goes on, not knowing (SIGSTOP). */
  readonly stops: number
  readonly stopPerCall: number
  /** F2: a write took effect and its answer is lost. */
  readonly lostReply: number
  /** F3: an operation fails before it took effect. */
  readonly refusedWrite: number
  readonly refusedRead: number
  /** Times at which the store is away for up to 30 s. */
  readonly storeOutages: number
  /** F4: chance per write that the majority lags behind it for a while. */
  readonly staleRead: number
  /** F20: chance per read that it is answered by a primary that was suspended since the last answer, and does not know of its successor. */
  readonly oldPrimary: number
  /** F5. */
  readonly redisWipes: number
  readonly redisOutages: number
  /** F6. */
  readonly jobDuplicated: number
  readonly jobDelayed: number
  readonly jobLost: number
  /** F7. */
  readonly reorgs: number
  /** F8: chance that an unconfirmed transfer is replaced or dropped. */
  readonly replaced: number
  /** F9: chance per call of a node. */
  readonly nodeFault: number
  readonly nodeDisagrees: number
  /** Chance per unconfirmed payment that nodes of its chain are restarted while it waits. */
  readonly nodeRestarts: number
  /** Chance that a contract sends a payment on an account chain: each node shows that by its own records. */
  readonly callMoves: number
  /** F9: chance that no node shows what a transaction moved inside of calls, so that only balances tell. */
  readonly unreadable: number
  /** F1: chance that a scanner dies soon after it read a block in which only a balance grew. */
  readonly diesUnread: number
  /** F10: chance that a transfer is accompanied by a hostile one. */
  readonly hostileTransfer: number
  /** F12. */
  readonly rateFault: number
  /** F13: chance per request of a receiver, besides those that are down for long. */
  readonly receiverFault: number
  readonly receiverOutages: number
  /** F14. */
  readonly clockJumps: number
  readonly clockSkewMs: number
  /** F15. */
  readonly clientFault: number
  /** F16. */
  readonly operatorActions: number
  /** F16: chance per insert of deliveries that its answer takes seconds and an endpoint that it claimed for is deleted meanwhile. */
  readonly deletedBehind: number
  /** Slow answers of the store: chance and most of the delay. */
  readonly slowStore: number
  /** F17: chance that money which came to an account is moved on later, by the owner's key or by a collector with an allowance. */
  readonly outflows: number
  /** F17: nodes of account chains call their head final; no block is replaced then. */
  readonly finalAtHead: boolean
  /** F17: chance per answer of a node that its time is a day ahead. */
  readonly aheadOfTime: number
  /** F17: chance that a failing node refuses in its own words, as providers do. */
  readonly refusals: number
  /** F18: nodes of a coin lose their peers, and catch up later: how often. */
  readonly isolations: number
  /** F18: share of the unconfirmed transactions that nodes list for a while and do not give. */
  readonly ungiven: number
  /** How much longer than usual every answer of the store takes: with far stores, more happens at the same time. */
  readonly storeDistance: number
}

/** Fair weather. */
export const CLEAR: FaultMix = {
  crashPerWrite: 0,
  crashPerRead: 0,
  crashesMax: 0,
  stops: 0,
  stopPerCall: 0,
  lostReply: 0,
  refusedWrite: 0,
  refusedRead: 0,
  storeOutages: 0,
  staleRead: 0,
  redisWipes: 0,
  redisOutages: 0,
  jobDuplicated: 0,
  jobDelayed: 0,
  jobLost: 0,
  reorgs: 0,
  replaced: 0,
  nodeFault: 0,
  nodeDisagrees: 0,
  nodeRestarts: 0,
  callMoves: 0,
  unreadable: 0,
  diesUnread: 0,
  hostileTransfer: 0,
  rateFault: 0,
  receiverFault: 0,
  receiverOutages: 0,
  clockJumps: 0,
  clockSkewMs: 0,
  clientFault: 0,
  operatorActions: 0,
  deletedBehind: 0,
  slowStore: 0,
  outflows: 0,
  finalAtHead: false,
  aheadOfTime: 0,
  refusals: 0,
  isolations: 0,
  ungiven: 0,
  oldPrimary: 0,
  storeDistance: 1,
}

/**
 * Swarm testing (Groce et al., ISSTA 2012): every seed draws which faults it has at all and how strong each is, so that rare
 * combinations come up and no fault hides another. The ranges are those of the table of faults.
 */
export function drawFaults(random: Prng): FaultMix {
  const on = (share: number) => random.chance(share)
  const upTo = (share: number, most: number) => (on(share) ? random.next() * most : 0)
  const count = (share: number, most: number) => (on(share) ? random.between(1, most) : 0)
  if (on(0.05)) return CLEAR
  const crashes = count(0.6, 20)
  const mix = {
    crashPerWrite: crashes === 0 ? 0 : 0.002 + random.next() * 0.03,
    crashPerRead: crashes === 0 ? 0 : random.next() * 0.001,
    crashesMax: crashes,
    stops: count(0.35, 6),
    stopPerCall: upTo(0.35, 0.003),
    lostReply: upTo(0.5, 0.1),
    refusedWrite: upTo(0.5, 0.1),
    refusedRead: upTo(0.4, 0.03),
    storeOutages: count(0.2, 2),
    staleRead: upTo(0.4, 0.03),
    redisWipes: count(0.35, 3),
    redisOutages: count(0.3, 2),
    jobDuplicated: upTo(0.4, 0.3),
    jobDelayed: upTo(0.3, 0.2),
    jobLost: on(0.08) ? 1 : upTo(0.4, 0.3),
    reorgs: count(0.5, 5),
    replaced: upTo(0.6, 0.8),
    nodeFault: upTo(0.4, 0.3),
    nodeDisagrees: upTo(0.3, 0.3),
    hostileTransfer: upTo(0.5, 0.4),
    rateFault: upTo(0.4, 0.1),
    receiverFault: upTo(0.5, 0.5),
    receiverOutages: count(0.3, 2),
    clockJumps: count(0.3, 4),
    clockSkewMs: on(0.4) ? random.between(1_000, 300_000) : 0,
    clientFault: upTo(0.6, 0.5),
    operatorActions: count(0.5, 5),
    slowStore: upTo(0.4, 0.05),
    storeDistance: random.pick([1, 1, 1, 8, 30]),
    nodeRestarts: on(0.6) ? 0.5 + random.next() / 2 : 0,
    callMoves: upTo(0.5, 0.6),
    unreadable: upTo(0.5, 0.6),
    diesUnread: 0,
    deletedBehind: 0,
    outflows: 0,
    finalAtHead: false,
    aheadOfTime: 0,
    refusals: 0,
    isolations: 0,
    ungiven: 0,
    oldPrimary: 0,
  }
  // Drawn last, so that older seeds keep their other faults. Both together, or the two would seldom meet.
  const unread = on(0.3) ? { unreadable: 0.9, diesUnread: 0.5 + random.next() / 2 } : {}
  return outsideWorld({ ...mix, ...unread, deletedBehind: upTo(0.2, 0.5) }, random.fork('outside world'))
}

/** What providers and other people do, drawn from its own source so that older seeds keep their other faults. */
function outsideWorld(mix: FaultMix, random: Prng): FaultMix {
  const finalAtHead = random.chance(0.15)
  return {
    ...mix,
    outflows: random.chance(0.5) ? random.next() : 0,
    finalAtHead,
    // What is final is never replaced.
    reorgs: finalAtHead ? 0 : mix.reorgs,
    aheadOfTime: random.chance(0.3) ? random.next() * 0.02 : 0,
    refusals: random.chance(0.5) ? random.next() : 0,
    isolations: random.chance(0.4) ? random.between(1, 4) : 0,
    ungiven: random.chance(0.4) ? random.next() / 2 : 0,
    oldPrimary: random.chance(0.4) ? random.next() * 0.3 : 0,
  }
}
