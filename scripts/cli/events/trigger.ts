import { Argument, type Command, InvalidArgumentError } from 'commander'
import { EVENT_TYPES, type EventType } from '#shared/domain/enumerations.ts'
import { type OutputOptions, print } from '../text/output.ts'
import { callServer, type ServerOptions, serverAccess, withServerOptions } from './server-access.ts'

interface TriggerOptions extends OutputOptions, ServerOptions {
  readonly invoice?: string
  readonly orderId?: string
  readonly metadata?: Readonly<Record<string, string>>
}

function addPair(text: string, pairs: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key === undefined || value === undefined) throw new InvalidArgumentError('a key and a value, like channel=web')
  return { ...pairs, [key]: value }
}

async function trigger(event: EventType, options: TriggerOptions, command: Command): Promise<void> {
  const access = serverAccess({ ...options, ...command.optsWithGlobals<TriggerOptions>() })
  const { invoice, orderId, metadata } = options
  const body = JSON.stringify({ event, invoice_id: invoice, order_id: orderId, metadata })
  const response = await callServer(access, '/listen/trigger', { method: 'POST', body })
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
    .option(
      '--invoice <id>',
      'continue this test invoice instead of a new one: a second payment (payment.confirmed when it is paid), a late one, one that is not confirmed yet (invoice.confirming; invoice.paid confirms it)',
    )
    .option('--order-id <reference>', 'order_id of the new invoice')
    .option('--metadata <key=value>', 'metadata of the new invoice; may be repeated', addPair)
    .option('--json', 'print one JSON value')
    .action(trigger)
}
