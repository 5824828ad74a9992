import { type Command, Option } from 'commander'
import { MODES, type Mode } from '#shared/domain/enumerations.ts'
import type { WebhookEndpoint } from '#shared/ports/endpoints.ts'
import { findEndpoint } from '#shared/usecases/endpoints/find-endpoint.ts'
import { ROTATION_OVERLAP_MS, rotateEndpointSecret } from '#shared/usecases/endpoints/rotate-endpoint-secret.ts'
import { sendTestEvent } from '#shared/usecases/endpoints/send-test-event.ts'
import { setEndpointStatus } from '#shared/usecases/endpoints/set-endpoint-status.ts'
import { actorName } from './session/actor.ts'
import { announced } from './session/announced.ts'
import { type Installation, withInstallation } from './session/installation.ts'
import { withKicker } from './session/with-kicker.ts'
import { type OutputOptions, print, table } from './text/output.ts'
import { parseDuration } from './text/parse-time.ts'
import { presentDelivery, presentRecovery } from './text/present-delivery.ts'
import { snakeCase } from './text/snake-case.ts'

const LATEST = 5

/** Without anything that could sign. */
function present(endpoint: WebhookEndpoint): object {
  const { sealedSecrets: _sealed, formerSecrets, rotatedBy: _by, opId: _op, ...shown } = endpoint
  const until = (formerSecrets ?? []).map((former) => new Date(former.until).toISOString())
  return { ...Object(snakeCase(shown)), old_secrets_until: until }
}

async function list(options: OutputOptions & { readonly workspace?: string }): Promise<void> {
  await withInstallation(async (installation) => {
    const owners = options.workspace === undefined ? await installation.workspaces.list() : [{ id: options.workspace }]
    const found = (await Promise.all(owners.map(({ id }) => installation.endpoints.list(id, null)))).flat()
    const rows = found.map(({ id, status, mode, events, url }) => [id, status, mode, events.join(','), url])
    print(options, found.map(present), table(['ID', 'STATUS', 'MODE', 'EVENTS', 'URL'], rows, 'no webhook endpoints'))
  })
}

/** The endpoint, what it got last and what is being sent to it again. */
async function describe(installation: Installation, id: string) {
  const endpoint = await findEndpoint(installation.endpoints, id)
  const [last, recoveries] = await Promise.all([
    installation.lookups.list({ endpointIds: [id], status: null, limit: LATEST }),
    installation.recoveries.listByEndpoint(id, LATEST),
  ])
  return {
    ...present(endpoint),
    last_deliveries: last.map(presentDelivery),
    recoveries: recoveries.map(presentRecovery),
  }
}

async function show(id: string, options: OutputOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const shown = await describe(installation, id)
    const lines = Object.entries(shown).flatMap(([name, value]) =>
      Array.isArray(value) && value.some((item) => typeof item === 'object')
        ? [`${name}:`, ...value.map((item) => `  ${JSON.stringify(item)}`)]
        : [`${name.padEnd(18)} ${Array.isArray(value) ? value.join(', ') || '-' : (value ?? '-')}`],
    )
    print(options, shown, lines.join('\n'))
  })
}

async function test(id: string, options: OutputOptions & { readonly mode?: Mode }): Promise<void> {
  await withInstallation((installation) =>
    withKicker(installation, async (deps) => {
      const urls = { checkoutBaseUrl: deps.config.checkout.baseUrl }
      const wish = { endpointId: id, mode: options.mode ?? null, opId: deps.random.uuid(), actor: actorName() }
      const delivery = await sendTestEvent({ ...deps, urls }, wish)
      print(
        options,
        presentDelivery(delivery),
        `delivery ${delivery.id} is on its way; see: delivery show ${delivery.id}`,
      )
    }),
  )
}

async function rotate(id: string, options: OutputOptions & { readonly overlap: number }): Promise<void> {
  await withInstallation(async (installation) => {
    const { endpoint, secret, oldUntil } = await rotateEndpointSecret(
      { ...installation, ...announced(installation) },
      {
        endpointId: id,
        overlapMs: options.overlap,
        opId: installation.random.uuid(),
        actor: actorName(),
      },
    )
    const until = new Date(oldUntil).toISOString()
    const old =
      options.overlap === 0
        ? 'The old secret signs nothing any more.'
        : `Until ${until} the old secret signs the webhook-signature header as well; X-Webhook-Signature is the new one’s from now on.`
    print(options, { ...present(endpoint), secret }, `${secret}\nIt is not shown again. ${old}`)
  })
}

async function setStatus(id: string, status: WebhookEndpoint['status'], options: OutputOptions): Promise<void> {
  await withInstallation((installation) =>
    withKicker(installation, async (deps) => {
      const parts = { ...deps, ...announced(installation) }
      const { endpoint, changed } = await setEndpointStatus(parts, { endpointId: id, status, actor: actorName() })
      const text = changed ? `endpoint ${id} is ${status}` : `endpoint ${id} was ${status} already`
      print(options, { ...present(endpoint), changed }, text)
    }),
  )
}

/** `endpoint list | show | test | rotate-secret | disable | enable`. */
export function addEndpointCommands(program: Command): void {
  const endpoint = program.command('endpoint').description('Webhook endpoints: what they are, a test, their secret.')
  const leaf = (name: string, text: string) =>
    endpoint.command(name).description(text).option('--json', 'print one JSON value')
  leaf('list', 'List webhook endpoints, without their secrets.')
    .option('--workspace <id>', 'only those of this workspace')
    .action(list)
  leaf('show <id>', 'Show an endpoint, its last deliveries and its recoveries with their progress.').action(show)
  leaf('test <id>', 'Send a webhook.test event with a sample invoice to it, whatever it is subscribed to.')
    .addOption(new Option('--mode <mode>', 'for endpoints that receive both (default: test)').choices(MODES))
    .action(test)
  leaf('rotate-secret <id>', 'Give it a new signing secret, printed once. Noted in the audit trail.')
    .option(
      '--overlap <time>',
      'how long the old one goes on signing: 0, 90m, 24h … 7d',
      parseDuration,
      ROTATION_OVERLAP_MS,
    )
    .action(rotate)
  leaf('disable <id>', 'Send it nothing from now on; what waits is held, and new events are left out.').action(
    (id: string, options: OutputOptions) => setStatus(id, 'disabled', options),
  )
  leaf('enable <id>', 'Let it receive again; what was held goes on. Fetch the rest with: delivery recover.').action(
    (id: string, options: OutputOptions) => setStatus(id, 'enabled', options),
  )
}
