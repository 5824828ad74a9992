import { Command, CommanderError } from 'commander'
import { addListenCommand } from '../../../scripts/cli/events/listen.ts'
import { addTriggerCommand } from '../../../scripts/cli/events/trigger.ts'
import manifest from '../package.json' with { type: 'json' }
import { addInvoiceShow } from './invoice-show.ts'

const HELP = `
Keys and addresses: PAYMESH_API_KEY is the API key, PAYMESH_PUBLIC_ADMIN_URL the dashboard's address, PAYMESH_API the API's.

Examples:
  $ export PAYMESH_API_KEY=pm_test_… PAYMESH_PUBLIC_ADMIN_URL=https://dashboard.example.com PAYMESH_API=https://pay.example.com/api/v1
  $ paymesh listen --forward-to http://localhost:3000/webhooks
  $ paymesh trigger invoice.paid --order-id 1001
  $ paymesh invoice show 01930000-0000-7000-8000-000000000001
`

const program = new Command('paymesh')
  .description(
    'Tries a shop against Paymesh: its events on this machine, triggered ones included, and what an invoice is.',
  )
  .version(manifest.version, '--version', 'print the version')
  .showHelpAfterError('(add --help for usage)')
  .addHelpText('after', HELP)
  .exitOverride()
addListenCommand(program)
addTriggerCommand(program)
addInvoiceShow(program)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode
  else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
