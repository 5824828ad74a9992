import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from 'commander'
import { type ReconciliationReport, reconcile } from '#shared/usecases/reconciliation/reconcile.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'
import { progressPrinter } from './text/progress-printer.ts'
import { snakeCase } from './text/snake-case.ts'
import { wholeNumber } from './text/whole-number.ts'

const DAY_MS = 86_400_000

const parseDays = wholeNumber(/^[1-9]\d{0,4}$/, 'must be a whole number of days')

function textOf({ evaluated, notChecked, violations }: ReconciliationReport): string {
  const skipped = notChecked === 0 ? [] : [`${notChecked} invoices were not checked because they kept changing.`]
  if (violations.length === 0) return [`Reconciliation passed: ${evaluated} invoices.`, ...skipped].join('\n')
  const lines = violations.map(({ invoiceId, invariant, paymentKey, words }) =>
    [invoiceId, invariant, ...(paymentKey === null ? [] : [paymentKey]), words].join('  '),
  )
  return [`Reconciliation failed: ${violations.length} faults in ${evaluated} invoices.`, ...skipped, ...lines].join(
    '\n',
  )
}

/** `reconcile`: status 0 when ledgers, statuses, payments and events of all invoices agree, else 1. */
export function addReconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description(
      'Check every invoice against its payments and events: keys, credits, sums, statuses and confirmations. Changes nothing; exits with 1 if it finds a fault.',
    )
    .option('--since <days>', 'only invoices created or changed in the last <days> days', parseDays)
    .option('--json', 'print one JSON value')
    .action(async (options: OutputOptions & { readonly since?: number }) => {
      await withInstallation(async (installation) => {
        const since = options.since === undefined ? null : installation.clock.now() - options.since * DAY_MS
        const deps = { ...installation, pause: (ms: number) => pause(ms) }
        const tell = progressPrinter()
        const report = await reconcile(deps, {
          since,
          onProgress: (evaluated) => tell(`${evaluated} invoices checked`),
        })
        const right = report.violations.length === 0
        print(options, snakeCase({ right, ...report }), textOf(report))
        if (!right) process.exitCode = 1
      })
    })
}
