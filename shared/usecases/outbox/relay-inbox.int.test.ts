import { beforeAll, describe, expect, it } from 'vitest'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { outboxShardOf } from '#shared/ports/invoices.ts'
import { simulatePayment } from '#shared/usecases/invoices/simulate-payment.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { createOutboxRelay } from './relay.ts'

const stores = useStores()
let engine: Engine
beforeAll(async () => {
  engine = await openEngine(stores)
  await engine.publishRates()
})

/** An overpaid invoice whose inbox entry waits in its outbox. */
async function overpaid() {
  const { deps, workspace } = engine
  const { terms } = await engine.open({ asset: 'usdt_bsc' })
  const input = { workspaceId: workspace.id, mode: 'test', invoiceId: terms.id } as const
  await simulatePayment(deps, { ...input, scenario: 'overpaid', opId: terms.id })
  const shard = outboxShardOf(terms.id)
  const rowId = `over:${terms.id}`
  return {
    invoiceId: terms.id,
    relay: () => createOutboxRelay(deps).relayShard(shard),
    /** Appends the word that closes the entry again, as a later change of the invoice would. */
    closeLater: async () => {
      const invoices = stores.db.collection(INVOICES)
      const [stored] = await invoices.find({ _id: terms.id }).toArray()
      const opening = stored?.outbox?.find(({ kind, type }) => kind === 'exception' && type === 'over')
      if (opening === undefined) throw new Error('the invoice opened no entry')
      const closing = { ...opening, kind: 'exception_closed' as const, seq: 99, eventId: `${opening.eventId}9` }
      await invoices.updateOne({ _id: terms.id }, { $push: { outbox: closing }, $set: { outboxAt: new Date() } })
    },
    row: () => deps.exceptions.findById(rowId),
    rowId,
  }
}

/** A relay that stops before it writes to the inbox, as a paused machine does, until it is thawed. */
function frozenRelay() {
  const { deps } = engine
  let thaw = (): void => undefined
  const thawed = new Promise<void>((resolve) => {
    thaw = resolve
  })
  let arrive = (): void => undefined
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const applyChanges: typeof deps.exceptions.applyChanges = async (changes) => {
    arrive()
    await thawed
    return deps.exceptions.applyChanges(changes)
  }
  const relay = createOutboxRelay({ ...deps, exceptions: { ...deps.exceptions, applyChanges } })
  return { relay, arrived, thaw }
}

describe('an inbox row', () => {
  // Guarantee: a relay that was frozen does not undo what another relay wrote meanwhile.
  it.each(['before', 'together with'] as const)(
    'stays closed when a frozen relay wakes that read only the opening, which another one relayed %s the closing',
    async (order) => {
      const invoice = await overpaid()
      const { relay, arrived, thaw } = frozenRelay()
      const turn = relay.relayShard(outboxShardOf(invoice.invoiceId))
      await arrived
      // The entry that opens the row may be trimmed once it is relayed, so the closing is written from it first.
      await invoice.closeLater()
      if (order === 'together with') await invoice.relay()
      else await relayOneByOne(invoice.invoiceId)
      expect((await invoice.row())?.closedAt).not.toBeNull()
      thaw()
      await turn
      expect((await invoice.row())?.closedAt).not.toBeNull()
    },
  )

  it('that a person closed stays closed when its entry is relayed twice', async () => {
    const { deps } = engine
    const invoice = await overpaid()
    const { relay, arrived, thaw } = frozenRelay()
    const turn = relay.relayShard(outboxShardOf(invoice.invoiceId))
    await arrived
    await invoice.relay()
    expect((await invoice.row())?.closedAt).toBeNull()
    await deps.exceptions.close([invoice.rowId], deps.clock.now())
    thaw()
    await turn
    expect((await invoice.row())?.closedAt).not.toBeNull()
  })
})

/** Relays each entry of the invoice in its own turn, as when the entries were written one after the other. */
async function relayOneByOne(invoiceId: string): Promise<void> {
  const { deps } = engine
  const applyChanges: typeof deps.exceptions.applyChanges = async (changes) => {
    for (const change of changes) await deps.exceptions.applyChanges([change])
  }
  const relay = createOutboxRelay({ ...deps, exceptions: { ...deps.exceptions, applyChanges } })
  await relay.relayShard(outboxShardOf(invoiceId))
}
