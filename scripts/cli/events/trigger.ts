import { Argument, type Command } from 'commander'
import { EVENT_TYPES, type EventType } from '#shared/domain/enumerations.ts'
import { type OutputOptions, print } from '../text/output.ts'
import { askServer, type ServerOptions, serverAccess, withServerOptions } from './server-access.ts'

interface TriggerOptions extends OutputOptions, ServerOptions {}

async function trigger(event: EventType, options: TriggerOptions, command: Command): Promise<void> {
  const access = serverAccess({ ...options, ...command.optsWithGlobals<TriggerOptions>() })
  const response = await askServer(access, '/listen/trigger', { method: 'POST', body: JSON.stringify({ event }) })
  const { data } = JSON.parse(await response.text())
  const subject =
    data.invoice_id === null ? 'with a sample invoice, for listeners' : `for test invoice ${data.invoice_id}`
  print(options, data, `${event} was triggered ${subject}.`)
}

/** `trigger`: triggers an event with a test invoice and simulated payments. */
export function addTriggerCommand(program: Command): void {
  withServerOptions(
    program
      .command('trigger')
      .addArgument(new Argument('<event>', 'event to trigger').choices(EVENT_TYPES))
      .description(
        'Make an event of test mode happen: a new test invoice is really created, paid, expired or cancelled, and its events go to `paymesh listen` and to every endpoint. The key needs webhooks:manage and invoices:write.',
      ),
  )
    .option('--json', 'print one JSON value')
    .action(trigger)
}
