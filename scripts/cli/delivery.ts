import { type Command, InvalidArgumentError, Option } from 'commander'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Delivery, DeliveryAttempt } from '#shared/ports/deliveries.ts'
import { explainFailure } from '#shared/usecases/deliveries/explain-failure.ts'
import { askRecovery } from '#shared/usecases/deliveries/request-recovery.ts'
import { resendDelivery } from '#shared/usecases/deliveries/resend-delivery.ts'
import { actorName } from './session/actor.ts'
import { type Installation, withInstallation } from './session/installation.ts'
import { withKicker } from './session/with-kicker.ts'
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

async function endpointIds(installation: Installation, { endpoint, workspace }: ListOptions): Promise<string[]> {
  if (endpoint !== undefined) return [endpoint]
  const owners = workspace === undefined ? await installation.workspaces.list() : [{ id: workspace }]
  const found = await Promise.all(owners.map(({ id }) => installation.endpoints.list(id, null)))
  return found.flat().map(({ id }) => id)
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

/** Where the time of a request went; phases that did not happen are left out. */
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
  const outcome = error === null ? `The receiver answered ${statusCode}.` : explainFailure(error)
  const answer = responseBody.trim() === '' ? '' : `\n     ${JSON.stringify(responseBody.slice(0, 500))}`
  const where = `${new Date(at).toISOString()}  ${ip ?? 'no connection'}  (${phasesText(attempt)})`
  return `  ${number}. ${where}\n     ${outcome}${answer}`
}

async function show(id: string, options: OutputOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const delivery = await installation.deliveries.findById(id)
    if (delivery === null) throw new PaymeshError('NOT_FOUND', { message: `There is no delivery ${id}.` })
    const [attempts, endpoint] = await Promise.all([
      installation.deliveries.listAttempts(id),
      installation.endpoints.findById(delivery.endpointId),
    ])
    const explained = attempts.map((attempt) => {
      return { ...attempt, explanation: attempt.error === null ? null : explainFailure(attempt.error) }
    })
    const next = delivery.status === 'pending' ? `, next try ${new Date(delivery.dueAt).toISOString()}` : ''
    const text = [
      `${delivery.eventType} ${delivery.eventId} → ${endpoint?.url ?? 'a deleted endpoint'} (${delivery.endpointId})`,
      `${delivery.status} after ${delivery.attempt} tries${next}`,
      ...explained.map(attemptText),
    ]
    const shown = { ...presentDelivery(delivery), url: endpoint?.url ?? null, attempts: snakeCase(explained) }
    print(options, shown, text.join('\n'))
  })
}

async function resend(id: string, options: OutputOptions): Promise<void> {
  await withInstallation((installation) =>
    withKicker(installation, async (deps) => {
      const delivery = await resendDelivery(deps, { id, actor: actorName() })
      print(options, presentDelivery(delivery), `delivery ${delivery.id} is on its way`)
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
    withKicker(installation, async (deps) => {
      const wish = {
        endpointId,
        since,
        until: until ?? null,
        scope: status,
        opId: deps.random.uuid(),
        actor: actorName(),
      }
      const recovery = await askRecovery(deps, wish)
      print(options, presentRecovery(recovery), `recovery ${recovery.id} runs; progress: endpoint show ${endpointId}`)
    }),
  )
}

/** `delivery list | show | resend | recover`. */
export function addDeliveryCommands(program: Command): void {
  const delivery = program
    .command('delivery')
    .description('Deliveries of events: what happened to them, and once more.')
  const leaf = (name: string, text: string) =>
    delivery.command(name).description(text).option('--json', 'print one JSON value')
  leaf('list', 'List deliveries, newest first.')
    .option('--endpoint <id>', 'only those to this endpoint')
    .option('--workspace <id>', 'only those of this workspace')
    .addOption(new Option('--status <status>', 'only those in this state').choices(STATUSES))
    .option('--limit <n>', 'at most this many', parseLimit, 50)
    .action(list)
  leaf('show <id>', 'Show a delivery with every attempt: where its time went, and why it failed in words.').action(show)
  leaf('resend <id>', 'Send the same event again, as a new delivery. Noted in the audit trail.').action(resend)
  leaf(
    'recover <endpoint>',
    'Send an endpoint what it missed in a period, however much; goes on by itself after a crash.',
  )
    .requiredOption('--since <time>', 'from then on: 2026-10-01T12:00:00Z, 2026-10-01 or 24h', parseMoment)
    .option('--until <time>', 'up to then (default: now)', parseMoment)
    .addOption(
      new Option('--status <which>', 'failed: what it never took; all: everything').choices(SCOPES).default('failed'),
    )
    .action(recover)
}
