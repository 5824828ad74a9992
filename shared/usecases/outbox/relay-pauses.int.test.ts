import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createEndpointOperations } from '#shared/db/deliveries/endpoint-repository.ts'
import { outboxShardOf } from '#shared/ports/invoices.ts'
import { setEndpointStatus } from '#shared/usecases/endpoints/set-endpoint-status.ts'
import { endpointNamed } from '#test/simulation/store/contract-samples.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { createOutboxRelay } from './relay.ts'

const MINUTE_MS = 60_000
const stores = useStores()
let engine: Engine
let endpointId: string
beforeAll(async () => {
  engine = await openEngine(stores)
})
beforeEach(async () => {
  const { deps, workspace } = engine
  endpointId = deps.random.uuid()
  const at = deps.clock.now()
  const fields = { workspaceId: workspace.id, mode: 'test', createdAt: at, updatedAt: at } as const
  await deps.endpoints.insert(endpointNamed(endpointId, fields))
  engine.advance(MINUTE_MS)
})

/** What an operator does at this moment; a minute passes afterwards. */
async function switchTo(status: 'enabled' | 'disabled'): Promise<void> {
  const { deps } = engine
  await setEndpointStatus(
    { ...deps, operations: createEndpointOperations(stores.db) },
    { endpointId, status, actor: 'operator' },
  )
  engine.advance(MINUTE_MS)
}

/** A new invoice, whose events wait for the relay; a minute passes afterwards. */
async function change(): Promise<string> {
  await engine.publishRates()
  const { terms } = await engine.open({ asset: 'usdt_bsc' })
  engine.advance(MINUTE_MS)
  return terms.id
}

/** Relays an invoice and returns its event types and those that have a delivery to the endpoint. */
async function relay(invoiceId: string) {
  const { deps } = engine
  await createOutboxRelay(deps).relayShard(outboxShardOf(invoiceId))
  const events = await deps.events.listByInvoice(invoiceId)
  const rows = await Promise.all(events.map(({ id }) => deps.deliveries.listByEvent(id)))
  const delivered = rows.flat().filter((row) => row.endpointId === endpointId)
  return { types: events.map(({ type }) => type), delivered: delivered.map(({ eventType }) => eventType) }
}

// Guarantee: the time of the change decides which endpoints get its events, not the time at which the relay reads them.
describe('a change that was made while the endpoint was', () => {
  it('enabled has its deliveries when the endpoint is disabled before the relay reads it', async () => {
    const invoiceId = await change()
    await switchTo('disabled')
    const { types, delivered } = await relay(invoiceId)
    expect(types).toEqual(['invoice.created', 'invoice.pending'])
    expect(delivered).toEqual(types)
  })

  it('disabled has none, also when the endpoint is enabled before the relay reads it', async () => {
    await switchTo('disabled')
    const invoiceId = await change()
    await switchTo('enabled')
    expect(await relay(invoiceId)).toEqual({ types: ['invoice.created', 'invoice.pending'], delivered: [] })
  })

  it('enabled again has its deliveries', async () => {
    await switchTo('disabled')
    await switchTo('enabled')
    const { types, delivered } = await relay(await change())
    expect(delivered).toEqual(types)
  })
})
