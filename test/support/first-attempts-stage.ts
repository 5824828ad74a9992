import { randomBytes } from 'node:crypto'
import { afterEach, beforeAll, beforeEach } from 'vitest'
import type { Delivery } from '#shared/ports/deliveries.ts'
import { outboxShardOf } from '#shared/ports/invoices.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createWebhookHttp, type WebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { after, stopwatch } from '#shared/runtime/process/timers.ts'
import { createDispatcher, type Dispatcher } from '#shared/usecases/deliveries/dispatch.ts'
import type { DispatchDeliveriesDeps } from '#shared/usecases/deliveries/dispatch-process.ts'
import { type BackgroundTrimmer, createBackgroundTrimmer } from '#shared/usecases/outbox/outbox-memory.ts'
import { createOutboxRelay, type OutboxRelay, type RelayDeps } from '#shared/usecases/outbox/relay.ts'
import { type Engine, openEngine } from './engine.ts'
import type { TestStores } from './stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts'

/** Replaced parts of one process. */
export interface ProcessChanges {
  readonly relay?: Partial<RelayDeps>
  readonly dispatcher?: Partial<DispatchDeliveriesDeps>
  readonly isPaused?: () => Promise<boolean>
  /** Its stopwatch shows nothing but `elapsed.ms`, so that no pace of the machine decides. */
  readonly isStill?: boolean
}

/** The parts of one `webhooks` process; `elapsed.ms` is added to its stopwatch. */
export interface SendingProcess {
  readonly dispatcher: Dispatcher
  readonly trimmer: BackgroundTrimmer
  readonly relay: OutboxRelay
  readonly elapsed: { ms: number }
}

/** An invoice whose one event, `invoice.created`, waits for the relay. */
export interface WaitingInvoice {
  readonly id: string
  readonly shard: number
}

/** An engine with an endpoint and its receiver, fresh for each test, and processes that relay and send. */
export function useFirstAttempts(stores: TestStores) {
  let engine: Engine
  let receiver: WebhookReceiver
  let http: WebhookHttp
  let endpointId: string
  let dispatchers: Dispatcher[] = []
  let trimmers: BackgroundTrimmer[] = []

  async function addEndpoint(url: string): Promise<string> {
    const { deps, workspace, secretBox } = engine
    const id = deps.random.uuid()
    const now = deps.clock.now()
    await deps.endpoints.insert({
      ...{ id, workspaceId: workspace.id, url, events: ['*'], mode: 'test', description: null },
      ...{ status: 'enabled', createdAt: now, updatedAt: now, opId: null },
      sealedSecrets: [secretBox.seal(`whsec_${randomBytes(32).toString('base64')}`, endpointSecretContext(id))],
      formerSecrets: [],
      inFlightMax: null,
    })
    return id
  }

  beforeAll(async () => {
    engine = await openEngine(stores)
  })
  beforeEach(async () => {
    receiver = await startWebhookReceiver()
    http = createWebhookHttp()
    endpointId = await addEndpoint(receiver.url)
    engine.wakeUps.length = 0
  })
  afterEach(async () => {
    await http.close()
    await Promise.all(dispatchers.map((each) => each.stop()))
    dispatchers = []
    // What one test leaves to be trimmed is relayed in no other.
    await Promise.all(trimmers.map((each) => each.flush()))
    trimmers = []
    await engine.deps.endpoints.remove(endpointId)
    await receiver.close()
  })

  function process(changes: ProcessChanges = {}): SendingProcess {
    const elapsed = { ms: 0 }
    const { deps, secretBox } = engine
    const begunAt = stopwatch()
    const watch = () => (changes.isStill === true ? begunAt : stopwatch()) + elapsed.ms
    const own = { ...deps, http, after, stopwatch: watch, secretBox, allowLocalhost: true, processes: () => 1 }
    const dispatcher = createDispatcher({
      ...own,
      maxInFlight: { normal: 64, slow: 16 },
      endpointInFlightMax: 64,
      ...changes.dispatcher,
    })
    dispatchers.push(dispatcher)
    const relayDeps = { ...deps, ...changes.relay }
    const trimmer = createBackgroundTrimmer({ ...relayDeps, after, stopwatch: watch })
    trimmers.push(trimmer)
    const attempts = {
      isPaused: changes.isPaused ?? (async () => false),
      claim: dispatcher.claimInserted,
      wake: (id: string) => dispatcher.wake(id),
    }
    const relay = createOutboxRelay(relayDeps, { attempts, trimmer, stopwatch: watch })
    return { dispatcher, trimmer, relay, elapsed }
  }

  async function invoice(): Promise<WaitingInvoice> {
    const { terms } = await engine.open()
    return { id: terms.id, shard: outboxShardOf(terms.id) }
  }

  /** Numbers are counted, so they are made one after the other. */
  async function invoices(count: number): Promise<WaitingInvoice[]> {
    const made: WaitingInvoice[] = []
    for (let at = 0; at < count; at += 1) made.push(await invoice())
    return made
  }

  async function deliveryOf(invoiceId: string, to = endpointId): Promise<Delivery | null> {
    const [event] = await engine.deps.events.listByInvoice(invoiceId)
    const rows = event === undefined ? [] : await engine.deps.deliveries.listByEvent(event.id)
    return rows.find((row) => row.endpointId === to) ?? null
  }

  return {
    get engine() {
      return engine
    },
    get receiver() {
      return receiver
    },
    get endpointId() {
      return endpointId
    },
    addEndpoint,
    process,
    invoice,
    invoices,
    deliveryOf,
    outboxOf: async (id: string) => (await engine.deps.invoices.findById(id))?.outbox.length,
  }
}
