import type { DeliveryDocument } from '#shared/db/deliveries/delivery-model.ts'
import type { SimProcess } from '../kernel/sim-process.ts'
import { must } from '../kernel/violation.ts'
import type { BegunRequest } from '../world/book.ts'
import type { Sim } from '../world/sim.ts'

/** A lease lives 20 s, its request begins within 6 s of the time before it, and times are rounded. */
const APART_MS = 13_000
/** The relay's read of an endpoint counts as its check for so long. */
const FRESH_MS = 1_000
/** The majority may show an endpoint for so long after it was deleted. */
const SHOWN_MS = 4_000
/** So long after it was frozen a process may still finish what it had begun. */
const THAWED_MS = 25_000

interface Before {
  readonly token: string
  readonly attempt: number
  readonly at: number
  readonly sender: SimProcess
}

/** S10, S15 for the moment at which a request begins, before it is known whether it arrives. */
export function createRequestChecks(sim: () => Sim, goneAt: ReadonlyMap<string, number>) {
  const claimedAtInsert = new Map<string, string>()
  /** The lease under which a row was when it was removed. */
  const tokenAtRemoval = new Map<string, string | null>()
  const last = new Map<string, Before>()

  const wasFrozen = (sender: SimProcess): boolean => {
    const at = sim().frozenAt.get(sender.name)
    return at !== undefined && sim().scheduler.now - at < THAWED_MS
  }
  /** The relay's read of an endpoint counts for a second: a first attempt that begins later goes to an endpoint that is still there. */
  const checkFresh = ({ deliveryId: id, endpoint, at }: BegunRequest, token: string | null | undefined): void => {
    const gone = goneAt.get(endpoint.id)
    const isFirst = token != null && claimedAtInsert.get(id) === token
    // A majority that lags when everything heals catches up after that; a primary that others have replaced shows the past for a while.
    const { staleRead, oldPrimary } = sim().mix
    const mayLag = staleRead > 0 || oldPrimary > 0 || (sim().healed && at - sim().healedAt <= SHOWN_MS)
    must(
      gone === undefined || !isFirst || at - gone <= FRESH_MS + (mayLag ? SHOWN_MS : 0) + 50,
      'S10',
      () => `a first attempt to ${endpoint.id} began ${at - (gone ?? 0)} ms after its deletion`,
    )
  }
  return {
    /** A row came: under a lease when the relay claimed it with its insert. */
    inserted(row: DeliveryDocument): void {
      must(row.attempt === 0, 'S15', () => `delivery ${row._id} came with ${row.attempt} attempts`)
      must(row.claims > 0 === (row.leaseToken !== null), 'S15', () => `delivery ${row._id} came half claimed`)
      if (row.leaseToken !== null) claimedAtInsert.set(row._id, row.leaseToken)
    },
    removed(row: DeliveryDocument): void {
      tokenAtRemoval.set(row._id, row.leaseToken)
    },
    began(begun: BegunRequest): void {
      const { deliveryId: id, endpoint, sender, at } = begun
      if (wasFrozen(sender) || !sim().clocksHold) return
      const [found] = sim().store.collection('webhook_deliveries').find({ _id: id }, sim().store.now())
      const row = found as unknown as DeliveryDocument | undefined
      if (row === undefined) {
        must(goneAt.has(endpoint.id), 'S10', () => `a request of delivery ${id} began before the row was stored`)
        checkFresh(begun, tokenAtRemoval.get(id))
        return
      }
      const { leaseToken: token, attempt } = row
      must(row.status === 'pending' && token !== null, 'S10', () => `a request of ${id} began without a claim`)
      const before = last.get(id)
      last.set(id, { token, attempt, at, sender })
      checkFresh(begun, token)
      if (before === undefined || wasFrozen(before.sender)) return
      must(before.token !== token, 'S10', () => `delivery ${id} was sent twice under one lease`)
      must(
        before.attempt !== attempt || at - before.at >= APART_MS,
        'S10',
        () => `delivery ${id} was sent twice within ${at - before.at} ms as the same attempt`,
      )
    },
  }
}
