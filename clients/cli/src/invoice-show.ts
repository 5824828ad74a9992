import type { Command } from 'commander'
import { apiAccess, type ServerOptions } from '../../../scripts/cli/events/server-access.ts'
import { type OutputOptions, print } from '../../../scripts/cli/text/output.ts'
import { createPaymesh, type Invoice, type Payment } from '../../typescript/src/main.ts'

interface ShowOptions extends OutputOptions, ServerOptions {
  readonly api?: string
}

/** `invoice show`: an invoice with its payments, as the API returns them. */
export function addInvoiceShow(program: Command): void {
  program
    .command('invoice')
    .description('Read invoices.')
    .command('show <id>')
    .description('Show an invoice with its payments. The key needs invoices:read and payments:read.')
    .option('--api <url>', 'address of the API, with /api/v1; default: PAYMESH_API, else what `npm start` runs here')
    .option('--api-key-file <file>', 'file with the API key; default: PAYMESH_API_KEY; - reads stdin')
    .option('--json', 'print one JSON value')
    .action(async (id: string, options: ShowOptions) => {
      const { url, apiKey } = apiAccess(options)
      const client = createPaymesh({ apiKey, baseUrl: url })
      const invoice = await client.invoices.get(id)
      const payments: Payment[] = []
      for await (const payment of client.payments.list({ invoice_id: id })) payments.push(payment)
      print(options, { invoice, payments }, describe(invoice, payments))
    })
}

function describe(invoice: Invoice, payments: readonly Payment[]): string {
  const { number, status, amount, crypto, received, order_id: order, expires_at: end, urls } = invoice
  const due = crypto === null ? [] : [`to pay    ${crypto.amount} ${crypto.asset} to ${crypto.address}`]
  return [
    `${number}  ${status}${invoice.livemode ? '' : '  (test)'}`,
    `price     ${amount.value} ${amount.currency}${order === null ? '' : `, order ${order}`}`,
    ...due,
    `received  ${received.amount ?? '0'}, of which ${received.confirmed_base_units} base units are confirmed`,
    `ends      ${end}`,
    `checkout  ${urls.checkout}`,
    ...payments.map(
      (payment) => `payment   ${payment.amount} ${payment.asset}  ${payment.status}  ${payment.tx_hash ?? 'simulated'}`,
    ),
  ].join('\n')
}
