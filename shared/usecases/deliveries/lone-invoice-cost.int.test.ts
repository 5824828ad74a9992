import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { outboxShardOf } from '#shared/ports/invoices.ts'
import { endpointSecretContext } from '#shared/ports/secrets.ts'
import { createWebhookHttp, type WebhookHttp } from '#shared/runtime/http/webhook-http.ts'
import { after, stopwatch } from '#shared/runtime/process/timers.ts'
import { createBackgroundTrimmer } from '#shared/usecases/outbox/outbox-memory.ts'
import { createOutboxRelay } from '#shared/usecases/outbox/relay.ts'
import { commandsOf } from '#test/support/commands-of.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts'
import { createDispatcher } from './dispatch.ts'

const stores = useStores()
let engine: Engine
let receiver: WebhookReceiver
let http: WebhookHttp
beforeAll(async () => {
  engine = await openEngine(stores)
  receiver = await startWebhookReceiver()
  http = createWebhookHttp()
})
afterAll(async () => {
  await http.close()
  await receiver.close()
})

// Guarantee: what a lone invoice asks of the store, from its insert to its recorded delivery. Counted, not timed.
it('costs six commands after its insert', async () => {
  const { deps, workspace, secretBox } = engine
  const id = deps.random.uuid()
  const now = deps.clock.now()
  await deps.endpoints.insert({
    ...{ id, workspaceId: workspace.id, url: receiver.url, events: ['*'], mode: 'test', description: null },
    ...{ status: 'enabled', createdAt: now, updatedAt: now, opId: null },
    sealedSecrets: [secretBox.seal(`whsec_${randomBytes(32).toString('base64')}`, endpointSecretContext(id))],
    formerSecrets: [],
    inFlightMax: null,
  })
  // A stopwatch that stands still: what was read is fresh, however long the store takes.
  const readAt = stopwatch()
  const still = () => readAt
  const parts = { ...deps, http, after, stopwatch: still, secretBox, allowLocalhost: true, processes: () => 1 }
  const dispatcher = createDispatcher({ ...parts, maxInFlight: { normal: 64, slow: 16 }, endpointInFlightMax: 64 })
  const trimmer = createBackgroundTrimmer(parts)
  const attempts = { isPaused: async () => false, claim: dispatcher.claimInserted, wake: dispatcher.wake }
  const relay = createOutboxRelay(deps, { attempts, trimmer, stopwatch: still })
  const send = async (shard: number): Promise<void> => {
    await relay.relayShard(shard)
    await dispatcher.idle()
    await trimmer.flush()
  }
  const shardOfNew = async () => outboxShardOf((await engine.open()).terms.id)
  await send(await shardOfNew())

  const shard = await shardOfNew()
  const found = await commandsOf(stores.db, () => send(shard))
  // An update command has an entry for each of its statements; here each has one.
  const names = found.map(({ op, ns }) => `${op} ${String(ns).slice(String(ns).indexOf('.') + 1)}`)
  expect(names.toSorted(), names.join(', ')).toEqual(
    [
      'command invoices',
      'query webhook_endpoints',
      'insert events',
      'insert webhook_deliveries',
      'update webhook_deliveries',
      'update invoices',
    ].toSorted(),
  )
  expect(receiver.requests).toHaveLength(2)
})
