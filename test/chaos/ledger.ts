import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

/** A payer's plan for an invoice. `parts` pays in two transfers, `cancel` makes the merchant cancel it, `expire` lets its time pass. */
export const PLANS = ['exact', 'parts', 'over', 'cancel', 'none', 'expire'] as const
export type Plan = (typeof PLANS)[number]

/** One line of the merchant's own record: intended, answered, or sent on the chain. */
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

/** A record on disk that survives everything else: a line is on the disk before `write` returns. */
export interface Ledger {
  readonly file: string
  readonly lines: readonly LedgerLine[]
  write(line: LedgerLine): void
  close(): void
}

/** Opens a new record. */
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
