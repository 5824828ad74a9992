import { randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '#shared/db/connect.ts'
import { createEndpointRepository } from '#shared/db/endpoint-repository.ts'
import { createEventRepository } from '#shared/db/event-repository.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { endpointSecretContext } from '#shared/usecases/ports/secrets.ts'
import { type Child, freePort, pause } from './child.ts'
import type { Arrival } from './merchant.ts'
import { type BenchOperator, logInOperator } from './operator.ts'
import type { BenchOptions } from './options.ts'
import { MASTER_KEY, type Rig, withRig } from './rig.ts'
import { type DeliveryOwner, seedDeliveries, seededDelivery, statusOf } from './seed-deliveries.ts'
import { percentile } from './statistics.ts'

const ROWS = 1_000_000
const RECEIVERS = 20
/** Searches of each kind in a round. */
const SEARCHES = 40
const SEARCH_LIMIT_MS = 50
const RESENDS = 200
const RESEND_EVERY_MS = 100
const RESEND_LIMIT_MS = 200
const WARM_UP = 20
const BODY_BYTES = 2_048
const DAY_MS = 86_400_000

/**
 * What operators wait for: every kind of search among a million deliveries of one workspace, over HTTP with a session, and the
 * time from a resend to the arrival of its POST, with the dispatcher as the Procfile starts it.
 */
export function benchAdmin(options: BenchOptions): Promise<void> {
  return withRig(options, async (rig) => {
    const { print, only } = options
    const stage = await openStage(rig, options)
    if (only === null || only === 'search') report(await searches(stage, options), options)
    if (only === null || only === 'resend') {
      await rig.startService('webhooks')
      const before = stage.admin.cpuSeconds() ?? Number.NaN
      const { delays, answers } = await resends(stage)
      const cpuMs = (1_000 * ((stage.admin.cpuSeconds() ?? Number.NaN) - before)) / (RESENDS + WARM_UP)
      const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)]
      print(
        `resend to its answer: p50 ${percentile(answers, 0.5).toFixed(1)} ms, p99 ${percentile(answers, 0.99).toFixed(1)} ms, ${cpuMs.toFixed(1)} ms of CPU in the admin process each`,
      )
      print(
        `resend to arrival of the POST, ${delays.length} resends: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (at most ${RESEND_LIMIT_MS})`,
      )
    }
  })
}

interface Stage {
  readonly rows: number
  readonly now: number
  readonly owner: DeliveryOwner
  readonly operator: BenchOperator
  readonly db: Database
  readonly admin: Child
  /** What came since it was asked last. */
  arrivals(): Promise<readonly Arrival[]>
}

async function openStage(rig: Rig, { print, rows = ROWS }: BenchOptions): Promise<Stage> {
  const { db } = rig.api
  const control = await freePort()
  await rig.startHelper('bench/merchant.ts', control, {
    ...{ MERCHANT_PORT: String(control), MERCHANT_RECEIVERS: String(RECEIVERS), MERCHANT_DELAY_MS: '5' },
  })
  const ask = async <T>(path: string): Promise<T> =>
    (await (await fetch(`http://127.0.0.1:${control}${path}`, { method: 'POST', body: 'null' })).json()) as T
  const workspaceId = rig.keys[0]?.workspaceId ?? ''
  const endpointIds = await addEndpoints(db, workspaceId, await ask<number[]>('/ports'))
  const owner = { workspaceId, endpointIds }
  const now = Date.now()
  const startedAt = performance.now()
  await seedDeliveries(db, rows, now, owner)
  const tookSeconds = (performance.now() - startedAt) / 1_000
  print(`${rows} deliveries of one workspace in ${tookSeconds.toFixed(0)} s, ${endpointIds.length} endpoints`)
  const admin = await rig.startAdmin()
  const operator = await logInOperator(db, admin.origin, { workspaceId, mode: 'test' })
  const arrivals = async () => (await ask<{ arrivals: Arrival[] }>('/take')).arrivals
  return { rows, now, owner, operator, db, admin: admin.child, arrivals }
}

/** Each receiver an endpoint, and a disabled one for what is held. */
async function addEndpoints(db: Database, workspaceId: string, ports: readonly number[]): Promise<readonly string[]> {
  const box = createSecretBox(MASTER_KEY)
  const repository = createEndpointRepository(db)
  const ids = [...ports, 1].map(() => randomUUID())
  for (const [index, id] of ids.entries()) {
    await repository.insert({
      ...{ id, workspaceId, url: `http://localhost:${ports[index] ?? 9}/hooks/paymesh`, events: ['*'], mode: 'test' },
      ...{ description: null, status: index < ports.length ? 'enabled' : 'disabled' },
      sealedSecrets: [box.seal(`whsec_${randomBytes(32).toString('base64')}`, endpointSecretContext(id))],
      ...{ createdAt: Date.now(), updatedAt: Date.now(), opId: null },
    })
  }
  return ids
}

/** Every kind of search, as the filters of the page make it; `row` is any row of the seed. */
const KINDS: Readonly<Record<string, (row: ReturnType<typeof seededDelivery>, stage: Stage) => object>> = {
  'the newest': () => ({}),
  'a page far behind': ({ createdAt, id }) => ({
    cursor: Buffer.from(`${createdAt}:${id}`, 'utf8').toString('base64url'),
  }),
  'a day': ({ createdAt }) => ({ from: createdAt - DAY_MS, until: createdAt }),
  delivered: () => ({ status: 'succeeded' }),
  failed: () => ({ status: 'failed' }),
  'queued or retrying': () => ({ status: 'pending' }),
  held: () => ({ status: 'held' }),
  'an endpoint': ({ endpointId }) => ({ endpointId }),
  'failed at an endpoint': ({ endpointId }) => ({ endpointId, status: 'failed' }),
  'retrying at an endpoint, a week': ({ endpointId, createdAt }) => ({
    ...{ endpointId, status: 'pending', from: createdAt - 7 * DAY_MS, until: createdAt },
  }),
  'an event type': ({ eventType }) => ({ eventType }),
  'a rare event type': () => ({ eventType: 'webhook.test' }),
  'failed of a type': () => ({ eventType: 'invoice.paid', status: 'failed' }),
  'a type at an endpoint': ({ endpointId }) => ({ endpointId, eventType: 'invoice.paid' }),
  'a delivery’s id': ({ id }) => ({ q: id }),
  'an event’s id': ({ eventId }) => ({ q: eventId }),
  'an invoice’s id': ({ invoiceId }) => ({ q: invoiceId }),
}

async function searches(stage: Stage, { rounds }: BenchOptions): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows, now, owner, operator } = stage
  const times = new Map<string, number[]>(Object.keys(KINDS).map((kind) => [kind, []]))
  const anyRow = () => seededDelivery(Math.floor(Math.random() * rows), rows, now, owner)
  for (let round = 0; round <= rounds; round += 1) {
    for (const [kind, inputOf] of Object.entries(KINDS)) {
      for (let search = 0; search < SEARCHES; search += 1) {
        const input = inputOf(anyRow(), stage)
        const startedAt = performance.now()
        const { items } = await operator.query<{ items: readonly unknown[] }>('deliveries.list', input)
        const tookMs = performance.now() - startedAt
        if ('q' in input && items.length === 0) throw new Error(`${kind}: nothing was found`)
        // The first round compiles and warms up.
        if (round > 0) times.get(kind)?.push(tookMs)
      }
    }
  }
  return times
}

function report(times: ReadonlyMap<string, readonly number[]>, { print }: BenchOptions): void {
  for (const [kind, taken] of times) {
    const [p50, p95] = [percentile(taken, 0.5), percentile(taken, 0.95)]
    print(`  ${kind.padEnd(34)} p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`)
  }
  const all = [...times.values()].flat()
  const worst = Math.max(...[...times.values()].map((taken) => percentile(taken, 0.95)))
  print(
    `delivery search, ${all.length} searches: p95 ${percentile(all, 0.95).toFixed(1)} ms, of the slowest kind ${worst.toFixed(1)} ms (at most ${SEARCH_LIMIT_MS})`,
  )
}

/** Resends of failed deliveries at a pace, each timed from its request to the arrival of its POST. */
async function resends(
  stage: Stage,
): Promise<{ readonly delays: readonly number[]; readonly answers: readonly number[] }> {
  const { operator } = stage
  const failed = await failedWithEvents(stage, RESENDS + WARM_UP)
  const asked = new Map<string, number>()
  const answers: number[] = []
  const calls: Promise<void>[] = []
  for (const [index, { id, eventId }] of failed.entries()) {
    const call = async () => {
      const startedAt = performance.now()
      if (index >= WARM_UP) asked.set(eventId, performance.timeOrigin + startedAt)
      await operator.mutate('deliveries.resend', { deliveryId: id })
      if (index >= WARM_UP) answers.push(performance.now() - startedAt)
    }
    calls.push(call())
    await pause(index < WARM_UP ? 200 : RESEND_EVERY_MS)
  }
  await Promise.all(calls)
  const arrived = new Map<string, number>()
  for (let looks = 0; looks < 100 && arrived.size < failed.length; looks += 1) {
    for (const { eventId, at } of await stage.arrivals()) if (!arrived.has(eventId)) arrived.set(eventId, at)
    await pause(100)
  }
  const delays = [...asked].map(([eventId, at]) => {
    const arrivedAt = arrived.get(eventId)
    if (arrivedAt === undefined) throw new Error(`the resend of ${eventId} never arrived`)
    return arrivedAt - at
  })
  return { delays, answers }
}

/** Failed rows of the seed, the newest ones, each with the event that it needs to be sent again. */
async function failedWithEvents({ rows, now, owner, db }: Stage, count: number) {
  const failed: ReturnType<typeof seededDelivery>[] = []
  for (let row = rows - 1; row >= 0 && failed.length < count; row -= 1) {
    if (statusOf(row) === 'failed') failed.push(seededDelivery(row, rows, now, owner))
  }
  const { workspaceId } = owner
  await createEventRepository(db).insertMany(
    failed.map(({ eventId, eventType, invoiceId, createdAt }) => {
      const head = `{"id":"${eventId}","object":"event","type":"${eventType}","data":{"object":{"note":"`
      const body = Buffer.from(`${head.padEnd(BODY_BYTES - 4, 'x')}"}}}`)
      const seq = Number.parseInt(eventId.slice(eventId.lastIndexOf('_') + 1), 36)
      return { id: eventId, workspaceId, mode: 'test' as const, invoiceId, seq, type: eventType, body, createdAt }
    }),
  )
  return failed
}
