import type { Books, ChainHeight } from '#shared/ports/reconciliation.ts'
import { judgeTold } from './check-events.ts'
import { judgeCredits, judgeSums } from './check-ledger.ts'
import { judgeDepth, judgePaid, judgeStatus } from './check-status.ts'
import type { Finding, Violation } from './violation.ts'

/**
 * Everything that is wrong with an invoice; empty when its books agree. `cursors` are those of all scanners, read after the books. A
 * payment that waits to be applied and an outbox that waits to be relayed are not wrong: their sweeps have alerts of their own.
 */
export function judgeBooks(books: Books, cursors: readonly ChainHeight[]): readonly Violation[] {
  const credits = judgeCredits(books)
  // What follows from money that is not there would only repeat it.
  const rest =
    credits.length > 0
      ? []
      : [
          ...judgeSums(books),
          ...judgeStatus(books.invoice),
          ...judgePaid(books),
          ...judgeDepth(books, cursors),
          ...judgeTold(books),
        ]
  const findings = [...judgeKey(books), ...credits, ...rest]
  const invoiceId = books.invoice.terms.id
  return findings.map(({ invariant, words, paymentKey }) => ({
    invariant,
    invoiceId,
    paymentKey: paymentKey ?? null,
    words,
  }))
}

function judgeKey({ keySharedWith }: Books): readonly Finding[] {
  if (keySharedWith.length === 0) return []
  return [{ invariant: 'one_key', words: `its idempotency key also made ${keySharedWith.join(' ')}` }]
}
