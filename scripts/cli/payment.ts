import { type Command, InvalidArgumentError } from 'commander'
import { countPayment } from '#shared/usecases/invoices/count-payment.ts'
import { attachPayment } from '#shared/usecases/payments/attach-payment.ts'
import { createRateReader } from '#shared/usecases/rates/read-rate.ts'
import { actorName } from './session/actor.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'

function parseBaseUnits(text: string): bigint {
  if (!/^\d{1,78}$/.test(text)) throw new InvalidArgumentError('base units are a whole number')
  return BigInt(text)
}

interface AttachOptions extends OutputOptions {
  readonly invoice: string
  readonly value?: bigint
  readonly dryRun?: boolean
}

async function attach(paymentId: string, options: AttachOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const rates = createRateReader(installation)
    // No kick: the sweep of the outbox comes by within a second.
    const deps = { ...installation, rates, kicker: { kick: () => undefined } }
    const dryRun = options.dryRun ?? false
    const { payment, invoice, valueBase, statusBefore, changed } = await attachPayment(deps, {
      paymentId,
      invoiceId: options.invoice,
      valueBase: options.value ?? null,
      dryRun,
      actor: actorName(),
      isByHand: true,
    })
    const { status, underpaidAccepted } = invoice.state
    const less = underpaidAccepted ? ', with less than asked for' : ''
    const text = !changed
      ? `payment ${payment.id} counts for invoice ${invoice.terms.id} already; nothing changed`
      : dryRun
        ? `invoice ${invoice.terms.id} would go from ${statusBefore} to ${status}${less}; nothing was changed`
        : `invoice ${invoice.terms.id} went from ${statusBefore} to ${status}${less}`
    print(
      options,
      {
        payment_id: payment.id,
        invoice_id: invoice.terms.id,
        value_base_units: valueBase,
        status_before: statusBefore,
        status,
        underpaid_accepted: underpaidAccepted,
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
    // No kick: the sweep of the outbox comes by within a second.
    const deps = { ...installation, rates, kicker: { kick: () => undefined } }
    const payment = await installation.payments.findById(paymentId)
    const { mode, workspaceId } = payment ?? { mode: 'live' as const, workspaceId: null }
    const input = { workspaceId: workspaceId ?? '', mode, paymentId, actor: actorName(), reason: options.reason }
    const { terms, state } = await countPayment(deps, input)
    const shown = { payment_id: paymentId, invoice_id: terms.id, status: state.status }
    print(options, shown, `payment ${paymentId} counts for invoice ${terms.id}, which is ${state.status}`)
  })
}

/** `payment attach | count`. */
export function addPaymentCommand(program: Command): void {
  const payment = program.command('payment').description('Decide about payments that do not count by themselves.')
  payment
    .command('count <paymentId>')
    .description(
      'Count a confirmed payment that is dust, with its own amount. Noted in the audit trail; safe to repeat.',
    )
    .requiredOption('--reason <text>', 'why, for the audit trail')
    .option('--json', 'print one JSON value')
    .action(count)
  payment
    .command('attach <paymentId>')
    .description(
      'Settle an invoice with a stored, confirmed payment that does not count by itself. Noted in the audit trail; safe to repeat.',
    )
    .requiredOption('--invoice <id>', 'invoice that it settles, of the same workspace')
    .option(
      '--value <base units>',
      'what it is worth in base units of the invoice’s asset; needed for another asset',
      parseBaseUnits,
    )
    .option('--dry-run', 'show what would change and change nothing')
    .option('--json', 'print one JSON value')
    .action(attach)
}
