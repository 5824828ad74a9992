import type { ChainHeight, InvoiceRecords } from '#shared/ports/reconciliation.ts'
import { checkPublished } from './check-events.ts'
import { checkCredits, checkSums } from './check-ledger.ts'
import { checkDepth, checkPaid, checkStatus } from './check-status.ts'
import type { Finding, Violation } from './violation.ts'

/**
 * Everything that is wrong with an invoice; empty when its records agree. `cursors` are those of all scanners, read after the records. A
 * payment waiting to be applied and an outbox waiting to be relayed are not wrong: their sweeps have separate alerts.
 */
export function checkRecords(records: InvoiceRecords, cursors: readonly ChainHeight[]): readonly Violation[] {
  const credits = checkCredits(records)
  // Findings that follow from missing money would only repeat it.
  const rest =
    credits.length > 0
      ? []
      : [
          ...checkSums(records),
          ...checkStatus(records.invoice),
          ...checkPaid(records),
          ...checkDepth(records, cursors),
          ...checkPublished(records),
        ]
  const findings = [...checkKey(records), ...credits, ...rest]
  const invoiceId = records.invoice.terms.id
  return findings.map(({ invariant, words, paymentKey }) => ({
    invariant,
    invoiceId,
    paymentKey: paymentKey ?? null,
    words,
  }))
}

function checkKey({ keySharedWith }: InvoiceRecords): readonly Finding[] {
  if (keySharedWith.length === 0) return []
  return [{ invariant: 'one_key', words: `its idempotency key also made ${keySharedWith.join(' ')}` }]
}
