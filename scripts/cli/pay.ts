import type { Command } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { activePaymentMethod, currentQuote } from '#shared/domain/invoice/model.ts'
import { requestedBase } from '#shared/domain/invoice/totals.ts'
import { formatUnits, parseUnits } from '#shared/domain/money/money.ts'
import { withInstallation } from './session/installation.ts'
import { type OutputOptions, print } from './text/output.ts'

/** `pay`: development only; a real transfer on a local chain from its well-known development account. */
export function addPayCommand(program: Command): void {
  program
    .command('pay <invoiceId>')
    .description('Pay a test invoice with a real transfer on the local chain of its network (development only).')
    .option('--amount <amount>', 'amount in units of the asset; default: the amount left to pay')
    .option('--json', 'print one JSON value')
    .action(async (invoiceId: string, options: OutputOptions & { amount?: string }) => {
      await withInstallation(async (installation) => {
        if (installation.config.env !== 'development') throw new Error('pay is available in development only')
        const invoice = await installation.invoices.findById(invoiceId)
        if (invoice === null) throw new PaymeshError('NOT_FOUND', { message: `Invoice ${invoiceId} not found.` })
        const paymentMethod = activePaymentMethod(invoice.state)
        const quote = currentQuote(invoice.state)
        if (paymentMethod === null || quote === null)
          throw new Error('the invoice has no coin yet: create it with "asset" or choose a coin on its checkout')
        const node = installation.config.networks[invoice.terms.mode][paymentMethod.network]
        if (invoice.terms.mode !== 'test' || node === undefined)
          throw new Error(`no local ${paymentMethod.network} chain is running: simulate this payment instead`)
        const due = requestedBase(invoice.state, Date.now())
        const amountBase = options.amount === undefined ? due : parseUnits(options.amount, paymentMethod.decimals)
        if (amountBase <= 0n) throw new Error('nothing is due: set --amount')
        const { payLocally } = await import('#dev/local-chain/pay-locally.ts').catch((cause: unknown) => {
          throw new Error('pay needs a checkout: an image has no local chains', { cause })
        })
        const { txHash } = await payLocally({
          rpcUrl: node.rpcUrls[0] ?? '',
          asset: paymentMethod.asset,
          contract: installation.catalog.contract(paymentMethod.asset, 'test'),
          to: paymentMethod.address,
          amountBase,
        })
        const amount = formatUnits(amountBase, paymentMethod.decimals)
        print(
          options,
          {
            invoice_id: invoiceId,
            asset: paymentMethod.asset,
            amount,
            to_address: paymentMethod.address,
            tx_hash: txHash,
          },
          `sent ${amount} ${paymentMethod.symbol} to ${paymentMethod.address}\n${txHash}`,
        )
      })
    })
}
