import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ChainCursor } from './ports/scanning.ts'

/**
 * Up to when everything that happened on a chain is known to its scanner. Where unconfirmed transactions can be seen that is
 * the last look at the whole mempool: a payment that is announced in time is on time, and no block says what else waits.
 * Elsewhere it is the time of the last block, but blocks may carry times in the future (Bitcoin: two hours): known is only
 * what was there at the last look at the head.
 */
export function knownUntil({
  time,
  headSeenAt,
  mempoolAt,
}: Pick<ChainCursor, 'time' | 'headSeenAt' | 'mempoolAt'>): Ms {
  return mempoolAt ?? Math.min(time, headSeenAt)
}
