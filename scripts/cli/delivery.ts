import { type Command, InvalidArgumentError, Option } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Delivery, DeliveryAttempt } from '#shared/ports/deliveries.ts'
import { explainFailure } from '#shared/usecases/deliveries/explain-failure.ts'
import { askRecovery } from '#shared/usecases/deliveries/request-recovery.ts'
import { resendDelivery } from '#shared/usecases/deliveries/resend-delivery.ts'
import { actorName } from './session/actor.ts'
import { type Installation, withInstallation } from './session/installation.ts'
import { withNotifier } from './session/with-notifier.ts'
import { type OutputOptions, print, table } from './text/output.ts'
import { parseMoment } from './text/parse-time.ts'
import { presentDelivery, presentRecovery } from './text/present-delivery.ts'
import { snakeCase } from './text/snake-case.ts'

const STATUSES = ['pending', 'held', 'succeeded', 'failed'] as const
const SCOPES = ['failed', 'all'] as const

interface ListOptions extends OutputOptions {
  readonly endpoint?: string
  readonly workspace?: string
  readonly status?: Delivery['status']
  readonly limit: number
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > 1_000) throw new InvalidArgumentError('a number from 1 to 1000')
  return limit
}

/** The endpoints to list; none when the named endpoint belongs to another workspace than the named one. */
async function endpointIds(installation: Installation, { endpoint, workspace }: ListOptions): Promise<string[]> {
  if (endpoint !== undefined && workspace === undefined) return [endpoint]
  const owners = workspace === undefined ? await installation.workspaces.list() : [{ id: workspace }]
  const found = await Promise.all(owners.map(({ id }) => installation.endpoints.list(id, null)))
  const ids = found.flat().map(({ id }) => id)
  return endpoint === undefined ? ids : ids.filter((id) => id === endpoint)
}

async function list(options: ListOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const ids = await endpointIds(installation, options)
    const { status = null, limit } = options
    const found = await installation.lookups.list({ endpointIds: ids, status, limit })
    const rows = found.map((row) => [
      row.id,
      new Date(row.createdAt).toISOString(),
      row.status,
      row.eventType,
      String(row.attempt),
      row.lastError ?? '-',
      row.endpointId,
    ])
    const head = ['ID', 'CREATED', 'STATUS', 'EVENT', 'TRIES', 'LAST ERROR', 'ENDPOINT']
    print(options, found.map(presentDelivery), table(head, rows, 'no deliveries'))
  })
}

/** Duration of each phase of a request; phases that did not happen are left out. */
function phasesText({ phases, durationMs }: DeliveryAttempt): string {
  const named = {
    dns: phases?.dnsMs,
    connect: phases?.connectMs,
    tls: phases?.tlsMs,
    'first byte': phases?.firstByteMs,
  }
  const known = Object.entries(named).flatMap(([name, ms]) =>
    ms === null || ms === undefined ? [] : [`${name} ${ms}`],
  )
  return [...known, `total ${durationMs} ms`].join(', ')
}

function attemptText(attempt: DeliveryAttempt): string {
  const { number, at, statusCode, error, ip, responseBody } = attempt
  const outcome = error === null ? `The server returned ${statusCode}.` : explainFailure(error)
  const answer = responseBody.trim() === '' ? '' : `\n     ${JSON.stringify(responseBody.slice(0, 500))}`
  const where = `${new Date(at).toISOString()}  ${ip ?? 'no connection'}  (${phasesText(attempt)})`
  return `  ${number}. ${where}\n     ${outcome}${answer}`
}

async function show(id: string, options: OutputOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const delivery = await installation.deliveries.findById(id)
    if (delivery === null) throw new PaymeshError('NOT_FOUND', { message: `Delivery ${id} not found.` })
    const [attempts, endpoint] = await Promise.all([
      installation.deliveries.listAttempts(id),
      installation.endpoints.findById(delivery.endpointId),
    ])
    const explained = attempts.map((attempt) => {
      return { ...attempt, explanation: attempt.error === null ? null : explainFailure(attempt.error) }
    })
    const next = delivery.status === 'pending' ? `, next attempt ${new Date(delivery.dueAt).toISOString()}` : ''
    const text = [
      `${delivery.eventType} ${delivery.eventId} → ${endpoint?.url ?? 'a deleted endpoint'} (${delivery.endpointId})`,
      `${delivery.status} after ${delivery.attempt} attempts${next}`,
      ...explained.map(attemptText),
    ]
    const shown = { ...presentDelivery(delivery), url: endpoint?.url ?? null, attempts: snakeCase(explained) }
    print(options, shown, text.join('\n'))
  })
}

async function resend(id: string, options: OutputOptions): Promise<void> {
  await withInstallation((installation) =>
    withNotifier(installation, async (deps) => {
      const delivery = await resendDelivery(deps, { id, actor: actorName() })
      print(options, presentDelivery(delivery), `delivery ${delivery.id} is queued`)
    }),
  )
}

interface RecoverOptions extends OutputOptions {
  readonly since: number
  readonly until?: number
  readonly status: (typeof SCOPES)[number]
}

async function recover(endpointId: string, { since, until, status, ...options }: RecoverOptions): Promise<void> {
  await withInstallation((installation) =>
    withNotifier(installation, async (deps) => {
      const request = {
        endpointId,
        since,
        until: until ?? null,
        scope: status,
        opId: deps.random.uuid(),
        actor: actorName(),
      }
      const recovery = await askRecovery(deps, request)
      print(
        options,
        presentRecovery(recovery),
        `resend ${recovery.id} is running; progress: endpoint show ${endpointId}`,
      )
    }),
  )
}

/** `delivery list | show | resend | recover`. */
export function addDeliveryCommands(program: Command): void {
  const delivery = program.command('delivery').description('Inspect and resend deliveries of events.')
  const leaf = (name: string, text: string) =>
    delivery.command(name).description(text).option('--json', 'print one JSON value')
  leaf('list', 'List deliveries, newest first.')
    .option('--endpoint <id>', 'only to this endpoint')
    .option('--workspace <id>', 'only of this workspace')
    .addOption(new Option('--status <status>', 'only with this status').choices(STATUSES))
    .option('--limit <n>', 'at most this many', parseLimit, 50)
    .action(list)
  leaf('show <id>', 'Show a delivery with every attempt, its timing and the reason of its failure.').action(show)
  leaf('resend <id>', 'Resend the same event as a new delivery. Saved in the audit log.').action(resend)
  leaf(
    'recover <endpoint>',
    'Resend the events that an endpoint missed in a period. Resumes automatically after a crash.',
  )
    .requiredOption('--since <time>', 'start: 2026-10-01T12:00:00Z, 2026-10-01 or 24h', parseMoment)
    .option('--until <time>', 'end (default: now)', parseMoment)
    .addOption(
      new Option('--status <which>', 'failed: only events it missed; all: all events')
        .choices(SCOPES)
        .default('failed'),
    )
    .action(recover)
}
