import type { InvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Runtime } from '#shared/ports/runtime.ts'

/** Places that are read before all of them are. */
const LOOK_FIRST = 64
const DAY_MS = 86_400_000
const NOTHING: ReadonlyMap<string, Promise<void>> = new Map()

/** Dependencies of finding free places. */
export type FreePlaceDeps = Pick<Runtime, 'random' | 'clock'> & {
  readonly invoices: Pick<InvoiceRepository, 'drawsTaken'>
}

/** Every place is taken, or carried by a write that has not ended. */
export interface NoFreePlace {
  /** When the first one may become free. */
  readonly freeAt: Ms
  /** End with the writes that carry the others. */
  readonly writes: readonly Promise<void>[]
}

/** A place that no other write of this process carries. */
export type PlaceLease = ReturnType<typeof lease>

/** Makes the leases of a process; losing them costs a conflict in the store. */
export function createPlaceLeases(deps: FreePlaceDeps) {
  const writing = new Map<string, Promise<void>>()
  return {
    /**
     * A free one of the `count` places of a prefix. While writes of this process carry all that are left it waits for them, so that a refusal
     * is never early, and many callers at once do not try for one place. Callers that take several take them in one order.
     */
    async take(prefix: string, count: number): Promise<PlaceLease | NoFreePlace> {
      for (;;) {
        const place = await freePlaceOf(deps, prefix, count, writing)
        if (typeof place !== 'string') {
          if (place.writes.length === 0) return place
          await Promise.all(place.writes)
        } else if (!writing.has(place)) return lease(writing, place)
      }
    },
  }
}

function lease(writing: Map<string, Promise<void>>, place: string) {
  let ended = (): void => undefined
  const write = new Promise<void>((resolve) => {
    ended = resolve
  })
  writing.set(place, write)
  return {
    place,
    /** The write that carried it is over, or there will be none. May be repeated. */
    end: () => {
      if (writing.get(place) === write) writing.delete(place)
      ended()
    },
  }
}

/** A free one of `count` places, searched from a random one on; none of those that a write of `writing` carries. */
export async function freePlaceOf(
  deps: FreePlaceDeps,
  prefix: string,
  count: number,
  writing: ReadonlyMap<string, Promise<void>> = NOTHING,
): Promise<string | NoFreePlace> {
  const start = count === 0 ? 0 : Buffer.from(deps.random.bytes(4)).readUInt32LE(0) % count
  const all = Array.from({ length: count }, (_, index) => `${prefix}:${(start + index) % count}`)
  const writes: Promise<void>[] = []
  let freeAt = Number.POSITIVE_INFINITY
  for (const part of [all.slice(0, LOOK_FIRST), all.slice(LOOK_FIRST)]) {
    // A write that ends during the read may have been too late for it.
    const before = new Map(part.map((place) => [place, writing.get(place)]))
    const taken = await deps.invoices.drawsTaken(part)
    for (const place of part) {
      if (taken.has(place)) continue
      const write = before.get(place) ?? writing.get(place)
      if (write === undefined) return place
      writes.push(write)
    }
    for (const at of taken.values()) freeAt = Math.min(freeAt, at)
  }
  return { freeAt: Number.isFinite(freeAt) ? freeAt : deps.clock.now() + DAY_MS, writes }
}
