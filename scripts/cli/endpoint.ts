import { readFileSync } from 'node:fs'
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
import { requireWorkspace } from './session/require-workspace.ts'
import { withNotifier } from './session/with-notifier.ts'
import { type OutputOptions, print, table } from './text/output.ts'
import { parseDuration } from './text/parse-time.ts'
import { presentDelivery, presentRecovery } from './text/present-delivery.ts'
import { snakeCase } from './text/snake-case.ts'

const LATEST = 5

/** Without secrets. */
function present(endpoint: WebhookEndpoint): object {
  const { sealedSecrets: _sealed, formerSecrets, rotatedBy: _by, opId: _op, ...shown } = endpoint
  const until = formerSecrets.map((former) => new Date(former.until).toISOString())
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

/** The endpoint, its latest deliveries and its recoveries. */
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
    withNotifier(installation, async (deps) => {
      const { workspaceId } = await findEndpoint(deps.endpoints, id)
      await requireWorkspace(deps, workspaceId, 'restricted')
      const urls = { checkoutBaseUrl: deps.config.checkout.baseUrl }
      const request = { endpointId: id, mode: options.mode ?? null, opId: deps.random.uuid(), actor: actorName() }
      const delivery = await sendTestEvent({ ...deps, urls }, request)
      print(options, presentDelivery(delivery), `delivery ${delivery.id} is queued; see: delivery show ${delivery.id}`)
    }),
  )
}

async function rotate(
  id: string,
  options: OutputOptions & { readonly overlap: number; readonly secretFile?: string },
): Promise<void> {
  const { secretFile: file } = options
  const newSecret = file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  await withInstallation(async (installation) => {
    const { endpoint, secret, oldUntil } = await rotateEndpointSecret(
      { ...installation, ...announced(installation) },
      {
        endpointId: id,
        overlapMs: options.overlap,
        ...(newSecret !== undefined && { newSecret }),
        opId: installation.random.uuid(),
        actor: actorName(),
      },
    )
    const until = new Date(oldUntil).toISOString()
    const old =
      options.overlap === 0
        ? 'The old secret is no longer used.'
        : `Until ${until} the webhook-signature header also contains a signature by the old secret; X-Webhook-Signature uses only the new one.`
    print(options, { ...present(endpoint), secret }, `${secret}\nSave it now: it is not shown again. ${old}`)
  })
}

async function setStatus(id: string, status: WebhookEndpoint['status'], options: OutputOptions): Promise<void> {
  await withInstallation((installation) =>
    withNotifier(installation, async (deps) => {
      const parts = { ...deps, ...announced(installation) }
      const { endpoint, changed } = await setEndpointStatus(parts, { endpointId: id, status, actor: actorName() })
      const text = changed ? `endpoint ${id} is ${status}` : `endpoint ${id} is already ${status}`
      print(options, { ...present(endpoint), changed }, text)
    }),
  )
}

/** `endpoint list | show | test | rotate-secret | disable | enable`. */
export function addEndpointCommands(program: Command): void {
  const endpoint = program
    .command('endpoint')
    .description('List, test, pause and resume webhook endpoints, and rotate their secrets.')
  const leaf = (name: string, text: string) =>
    endpoint.command(name).description(text).option('--json', 'print one JSON value')
  leaf('list', 'List webhook endpoints, without their secrets.')
    .option('--workspace <id>', 'only of this workspace')
    .action(list)
  leaf('show <id>', 'Show an endpoint, its latest deliveries and the progress of resends.').action(show)
  leaf('test <id>', 'Send a webhook.test event with a sample invoice, regardless of the subscribed events.')
    .addOption(new Option('--mode <mode>', 'for endpoints that receive both modes (default: test)').choices(MODES))
    .action(test)
  leaf(
    'rotate-secret <id>',
    'Create a new signing secret, printed once. Deploy both secrets to the receiver first, then rotate: --secret-file sets the new one beforehand. Saved in the audit log.',
  )
    .option('--secret-file <file>', 'the new secret: whsec_ and 24 to 64 random bytes in base64; - reads stdin')
    .option(
      '--overlap <time>',
      'how long the old secret stays valid: 0, 90m, 24h … 7d',
      parseDuration,
      ROTATION_OVERLAP_MS,
    )
    .action(rotate)
  leaf('disable <id>', 'Pause an endpoint. Queued events are kept; new events are not queued.').action(
    (id: string, options: OutputOptions) => setStatus(id, 'disabled', options),
  )
  leaf(
    'enable <id>',
    'Resume an endpoint. Queued deliveries continue. Resend missed events with: delivery recover.',
  ).action((id: string, options: OutputOptions) => setStatus(id, 'enabled', options))
}
