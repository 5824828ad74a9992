import { setTimeout as pause } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { createBooksRepository } from '#shared/db/reconciliation/reconciliation-repository.ts'
import { type BooksReport, checkBooks } from '#shared/usecases/reconciliation/reconcile.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { progressTeller } from './text/progress-teller.ts'
import { snakeCase } from './text/snake-case.ts'

const DAY_MS = 86_400_000

function parseDays(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('a whole number of days is needed')
  return Number(text)
}

function textOf({ judged, notJudged, violations }: BooksReport): string {
  const skipped = notJudged === 0 ? [] : [`Not checked, because they kept changing: ${notJudged} invoices.`]
  if (violations.length === 0) return [`The books are right: ${judged} invoices.`, ...skipped].join('\n')
  const lines = violations.map(({ invoiceId, invariant, paymentKey, words }) =>
    [invoiceId, invariant, ...(paymentKey === null ? [] : [paymentKey]), words].join('  '),
  )
  return [`The books are wrong: ${violations.length} faults in ${judged} invoices.`, ...skipped, ...lines].join('\n')
}

/** `check-books`: status 0 when ledgers, statuses, payments and events of all invoices agree, else 1. */
export function addCheckBooksCommand(program: Command): void {
  program
    .command('check-books')
    .description(
      'Judge the books of all invoices: keys, credits, sums, statuses, confirmations and events. Changes nothing; status 1 when something is wrong.',
    )
    .option('--since <days>', 'only invoices created or changed in so many last days', parseDays)
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { readonly since?: number }) => {
      await withInstallation(async ({ db, cursors, clock }) => {
        const since = options.since === undefined ? null : clock.now() - options.since * DAY_MS
        const deps = { books: createBooksRepository(db), cursors, clock, pause: (ms: number) => pause(ms) }
        const tell = progressTeller()
        const report = await checkBooks(deps, { since, onProgress: (judged) => tell(`${judged} invoices judged`) })
        const right = report.violations.length === 0
        print(options, snakeCase({ right, ...report }), textOf(report))
        if (!right) process.exitCode = 1
      })
    })
}
