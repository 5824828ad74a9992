import { tooMany } from '#shared/contracts/errors.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'

/** How many pieces of work one owner may begin within any window. */
export interface BeginLimit {
  readonly max: number
  readonly windowMs: Ms
}

/**
 * Counts the begins of owners in this process. The function counts one, or throws `RATE_LIMITED` with the time to wait, naming `things`. Owners are ordered by
 * their latest begin, so that those without one in the window are dropped from the front. `now` is monotonic milliseconds.
 */
export function beginsWithin({ max, windowMs }: BeginLimit, things: string, now: () => Ms): (ownerId: string) => void {
  const begun = new Map<string, readonly Ms[]>()
  return (ownerId) => {
    const from = now() - windowMs
    for (const [id, times] of begun) {
      if ((times.at(-1) ?? from) > from) break
      begun.delete(id)
    }
    const recent = (begun.get(ownerId) ?? []).filter((at) => at > from)
    const [oldest] = recent
    if (recent.length >= max && oldest !== undefined) throw tooMany(things, oldest - from)
    begun.delete(ownerId)
    begun.set(ownerId, [...recent, now()])
  }
}
