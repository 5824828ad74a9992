import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

/** What a payer does with an invoice. `parts` pays in two transfers, `cancel` makes the merchant cancel it. */
export const PLANS = ['exact', 'parts', 'over', 'cancel', 'none'] as const
export type Plan = (typeof PLANS)[number]

/** One line of the merchant's own book: what was intended, what was answered, what was sent on the chain. */
export type LedgerLine =
  | { readonly kind: 'intent'; readonly key: string; readonly amount: string; readonly plan: Plan; readonly at: number }
  | {
      readonly kind: 'created'
      readonly key: string
      readonly invoiceId: string
      readonly dueBase: string
      readonly at: number
    }
  | { readonly kind: 'refused'; readonly key: string; readonly code: string; readonly at: number }
  | {
      readonly kind: 'transfer'
      readonly invoiceId: string
      readonly txHash: string
      readonly amountBase: string
      readonly at: number
    }
  | { readonly kind: 'cancelled'; readonly invoiceId: string; readonly at: number }

/** A book on disk that outlives everything else: a line is on the disk before `write` returns. */
export interface Ledger {
  readonly file: string
  readonly lines: readonly LedgerLine[]
  write(line: LedgerLine): void
  close(): void
}

/** Opens a new book. */
export function openLedger(file: string): Ledger {
  const descriptor = openSync(file, 'wx', 0o600)
  const lines: LedgerLine[] = []
  return {
    file,
    lines,
    write: (line) => {
      writeSync(descriptor, `${JSON.stringify(line)}\n`)
      fsyncSync(descriptor)
      lines.push(line)
    },
    close: () => closeSync(descriptor),
  }
}
