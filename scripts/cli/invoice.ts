import type { Command } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { explainInvoice } from '#shared/usecases/diagnostics/explain-invoice.ts'
import { presentInvoice, snapshotInvoice } from '#shared/usecases/invoices/present-invoice.ts'
import { withInstallation } from './session/installation.ts'
import { invoiceText } from './text/explain-text.ts'
import { type OutputOptions, print } from './text/output.ts'
import { snakeCase } from './text/snake-case.ts'

async function show(id: string, options: OutputOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const invoice = await installation.invoices.findById(id)
    if (invoice === null) throw new PaymeshError('NOT_FOUND', { message: `Invoice ${id} not found.` })
    const urls = { checkoutBaseUrl: installation.config.checkout.baseUrl }
    const shown = {
      ...presentInvoice(invoice.terms, snapshotInvoice(invoice.state), urls),
      workspace_id: invoice.terms.workspaceId,
      mode: invoice.terms.mode,
    }
    const lines = Object.entries(shown).map(([name, value]) => {
      return `${name.padEnd(18)} ${typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? '-')}`
    })
    print(options, shown, lines.join('\n'))
  })
}

async function explain(id: string, options: OutputOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const known = await explainInvoice(installation, id)
    print(options, snakeCase(known), invoiceText(known))
  })
}

/** `invoice show | explain`. */
export function addInvoiceCommands(program: Command): void {
  const invoice = program.command('invoice').description('Show invoices, and explain why an invoice is not paid.')
  invoice
    .command('show <id>')
    .description('Show an invoice as the API returns it, with its workspace and mode.')
    .option('--json', 'print one JSON value')
    .action(show)
  invoice
    .command('explain <id>')
    .description(
      'Show the amount due, every payment and whether it counts, the missing amount, the state of the scanner and the events sent, and explain why the invoice is not paid.',
    )
    .option('--json', 'print one JSON value')
    .action(explain)
}
