import { type Command, InvalidArgumentError } from 'commander'
import { attachByHand } from '#shared/usecases/exceptions/attach-by-hand.ts'
import { rejectionText } from '#shared/usecases/exceptions/rejected-money.ts'
import { countPayment } from '#shared/usecases/invoices/count-payment.ts'
import type { WeighAcceptance } from '#shared/usecases/payments/attach-payment.ts'
import { shortfallNotice } from '#shared/usecases/payments/shortfall-notice.ts'
import { createRateReader, type RateReader } from '#shared/usecases/rates/read-rate.ts'
import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'
import { actorName } from './session/actor.ts'
import { FROM_COMMAND_LINE } from './session/announced.ts'
import { type Installation, withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'

function parseBaseUnits(text: string): bigint {
  if (!/^\d{1,78}$/.test(text)) throw new InvalidArgumentError('base units must be a whole number')
  return BigInt(text)
}

interface AttachOptions extends OutputOptions {
  readonly invoice: string
  readonly value?: bigint
  readonly notReturned?: boolean
  readonly dryRun?: boolean
}

const HOW_TO_APPLY = 'If it was not and will not be, repeat the command with --not-returned.'

/** Mails every owner when an invoice of live mode is accepted with less than is due, by more than the threshold, as the dashboard does. */
function announcedShortfall(installation: Installation, rates: RateReader): WeighAcceptance {
  const ownersOf = (workspaceId: string) => ownersOfWorkspace(installation, workspaceId)
  return async (accepted) => {
    const { workspaceId } = accepted.after.terms
    const workspace = await installation.workspaces.findById(workspaceId)
    if (workspace === null) throw new Error(`invoice ${accepted.after.terms.id} belongs to no workspace`)
    const by = { workspace, actor: actorName(), from: FROM_COMMAND_LINE }
    return await shortfallNotice({ ...installation, rates, ownersOf }, by, accepted)
  }
}

async function attach(paymentId: string, options: AttachOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const rates = createRateReader(installation)
    // No wake-up: the outbox sweep finds it within a second.
    const deps = { ...installation, rates, notifier: { notify: () => undefined } }
    const dryRun = options.dryRun ?? false
    const paid = await installation.invoices.findById(options.invoice)
    const { payment, invoice, valueBase, statusBefore, changed, rejected } = await attachByHand(deps, {
      // An unknown invoice has no workspace, and is refused.
      workspaceId: paid?.terms.workspaceId ?? '',
      notReturned: options.notReturned ?? false,
      howToApply: HOW_TO_APPLY,
      paymentId,
      invoiceId: options.invoice,
      valueBase: options.value ?? null,
      dryRun,
      actor: actorName(),
      isByHand: true,
      weigh: announcedShortfall(installation, rates),
    })
    const { status, underpaidAccepted } = invoice.state
    const warning = rejected === null || !dryRun ? '' : `\n${rejectionText(rejected)} ${HOW_TO_APPLY}`
    const less = underpaidAccepted ? ', with less than the amount due' : ''
    const text = !changed
      ? `payment ${payment.id} is already applied to invoice ${invoice.terms.id}; no changes were made`
      : dryRun
        ? `invoice ${invoice.terms.id} would change from ${statusBefore} to ${status}${less}; no changes were made${warning}`
        : `invoice ${invoice.terms.id} changed from ${statusBefore} to ${status}${less}`
    print(
      options,
      {
        payment_id: payment.id,
        invoice_id: invoice.terms.id,
        value_base_units: valueBase,
        status_before: statusBefore,
        status,
        underpaid_accepted: underpaidAccepted,
        rejected_by: rejected?.by ?? null,
        rejected_at: rejected === null ? null : new Date(rejected.at).toISOString(),
        changed: changed && !dryRun,
        dry_run: dryRun,
      },
      text,
    )
  })
}

async function count(paymentId: string, options: OutputOptions & { readonly reason: string }): Promise<void> {
  await withInstallation(async (installation) => {
    const rates = createRateReader(installation)
    // No wake-up: the outbox sweep finds it within a second.
    const deps = { ...installation, rates, notifier: { notify: () => undefined } }
    const payment = await installation.payments.findById(paymentId)
    const { mode, workspaceId } = payment ?? { mode: 'live' as const, workspaceId: null }
    const input = { workspaceId: workspaceId ?? '', mode, paymentId, actor: actorName(), reason: options.reason }
    const { terms, state } = await countPayment(deps, input)
    const shown = { payment_id: paymentId, invoice_id: terms.id, status: state.status }
    print(options, shown, `payment ${paymentId} is applied to invoice ${terms.id}, which is ${state.status}`)
  })
}

/** `payment attach | count`. */
export function addPaymentCommand(program: Command): void {
  const payment = program.command('payment').description('Apply payments that Paymesh does not apply automatically.')
  payment
    .command('count <paymentId>')
    .description('Apply a confirmed dust payment with its own amount. Saved in the audit log; safe to repeat.')
    .requiredOption('--reason <text>', 'reason for the audit log')
    .option('--json', 'print one JSON value')
    .action(count)
  payment
    .command('attach <paymentId>')
    .description('Apply a stored, confirmed payment to an invoice. Saved in the audit log; safe to repeat.')
    .requiredOption('--invoice <id>', 'invoice to pay, in the same workspace')
    .option(
      '--value <base units>',
      'value in base units of the invoice’s asset; required if the payment is in another asset',
      parseBaseUnits,
    )
    .option('--not-returned', 'the payment was rejected, but was not returned to the customer and will not be')
    .option('--dry-run', 'show what would change; change nothing')
    .option('--json', 'print one JSON value')
    .action(attach)
}
