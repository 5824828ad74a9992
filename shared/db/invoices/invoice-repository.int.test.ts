import { describe, expect, it } from 'vitest'
import { ClaimTaken, type NewInvoice } from '#shared/ports/invoices.ts'
import { sampleEntry, sampleInvoice, samplePaymentMethod, sampleState } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { INVOICES } from './invoice-model.ts'
import { createInvoiceRepository } from './invoice-repository.ts'

const stores = useStores()
const repository = () => createInvoiceRepository(stores.db)
const invoiceIn = (workspaceId: string, overrides: Parameters<typeof sampleInvoice>[1] = {}): NewInvoice =>
  sampleInvoice(stores.runtime.random, { workspaceId, ...overrides })
const workspace = () => stores.runtime.random.uuid()

async function inserted(invoice: NewInvoice): Promise<NewInvoice> {
  expect(await repository().insert(invoice)).toEqual({ inserted: true })
  return invoice
}

describe('insert', () => {
  it('gives back exactly what was put in', async () => {
    const at = Date.now()
    const paymentMethod = samplePaymentMethod('c0ffee01', at)
    const invoice = invoiceIn(workspace(), {
      at,
      opId: 'op-1',
      idempotencyKey: 'k',
      state: { paymentMethods: [paymentMethod] },
    })
    await inserted(invoice)
    const found = await repository().findById(invoice.terms.id)
    expect(found).toEqual({
      terms: invoice.terms,
      state: invoice.state,
      outbox: invoice.outbox,
      lastOps: [{ opId: 'op-1', seq: 1 }],
      refundSeq: 0,
    })
  })

  it('writes documents that the schema describes', async () => {
    const at = Date.now()
    const invoice = invoiceIn(workspace(), {
      at,
      idempotencyKey: 'k',
      state: { paymentMethods: [samplePaymentMethod('c0ffee02', at)] },
    })
    await inserted(invoice)
    const stored = await stores.db.collection(INVOICES).findOne({ _id: invoice.terms.id })
    expect(INVOICES.schema.strict().safeParse(stored).error).toBeUndefined()
  })

  // Guarantee: an idempotency key makes at most one invoice, however many requests race.
  it('lets one of fifty parallel inserts with one idempotency key through', async () => {
    const workspaceId = workspace()
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        repository().insert(invoiceIn(workspaceId, { number: index + 1, idempotencyKey: 'same' })),
      ),
    )
    expect(results.filter((result) => result.inserted)).toHaveLength(1)
    expect(results.filter((result) => !result.inserted && result.conflict === 'idempotency_key')).toHaveLength(49)
  })

  it('names the index that refused: number, claims, id', async () => {
    const workspaceId = workspace()
    const at = Date.now()
    const first = await inserted(
      invoiceIn(workspaceId, { number: 7, at, state: { paymentMethods: [samplePaymentMethod('c0ffee03', at)] } }),
    )
    expect(await repository().insert(invoiceIn(workspaceId, { number: 7 }))).toEqual({
      inserted: false,
      conflict: 'number',
    })
    const sameAddress = invoiceIn(workspaceId, {
      number: 8,
      state: { paymentMethods: [samplePaymentMethod('c0ffee03', at)] },
    })
    expect(await repository().insert(sameAddress)).toEqual({ inserted: false, conflict: 'claims' })
    const sameId = { ...first, terms: { ...first.terms, number: 9 }, state: sampleState(at) }
    expect(await repository().insert(sameId)).toEqual({ inserted: false, conflict: 'id' })
  })

  it('keeps workspaces and modes apart in numbering and idempotency', async () => {
    await inserted(invoiceIn(workspace(), { number: 1, idempotencyKey: 'a' }))
    await inserted(invoiceIn(workspace(), { number: 1, idempotencyKey: 'a' }))
  })

  // Guarantee: one address belongs to one invoice in the installation.
  it('gives a contested address to one of twenty invoices', async () => {
    const workspaceId = workspace()
    const at = Date.now()
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        repository().insert(
          invoiceIn(workspaceId, {
            number: index + 1,
            state: { paymentMethods: [samplePaymentMethod('c0ffee04', at)] },
          }),
        ),
      ),
    )
    expect(results.filter((result) => result.inserted)).toHaveLength(1)
  })
})

describe('save', () => {
  const changed = (invoice: NewInvoice, version: number) => ({
    ...invoice.state,
    version,
    eventSeq: version,
    updatedAt: invoice.state.updatedAt + version,
  })

  // Guarantee: of two decisions on the same version only one is saved.
  it('lets one of ten writers win a version', async () => {
    const { terms, ...invoice } = await inserted(invoiceIn(workspace()))
    const state = changed({ terms, ...invoice }, 2)
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        repository().save({
          id: terms.id,
          expectedVersion: 1,
          expectedRefundSeq: 0,
          state: { ...state, partialAnnouncedBase: BigInt(index) },
          append: [sampleEntry(terms.id, 2, state.updatedAt)],
          op: { opId: `op-${index}`, seq: 2 },
        }),
      ),
    )
    expect(results.filter(Boolean)).toHaveLength(1)
    const found = await repository().findById(terms.id)
    expect(found?.outbox.map((entry) => entry.seq)).toEqual([1, 2])
    expect(found?.lastOps).toEqual([{ opId: `op-${results.indexOf(true)}`, seq: 2 }])
    expect(found?.state.partialAnnouncedBase).toBe(BigInt(results.indexOf(true)))
  })

  it('keeps the last eight operations', async () => {
    const invoice = await inserted(invoiceIn(workspace()))
    for (let version = 2; version <= 11; version++) {
      const op = { opId: `op-${version}`, seq: version }
      const change = {
        id: invoice.terms.id,
        expectedVersion: version - 1,
        expectedRefundSeq: 0,
        state: changed(invoice, version),
        append: [],
        op,
      }
      expect(await repository().save(change)).toBe(true)
    }
    const found = await repository().findById(invoice.terms.id)
    expect(found?.lastOps.map((op) => op.seq)).toEqual([4, 5, 6, 7, 8, 9, 10, 11])
  })

  it('claims the address of a new lock and throws ClaimTaken when it is not free', async () => {
    const at = Date.now()
    const workspaceId = workspace()
    await inserted(
      invoiceIn(workspaceId, { number: 1, state: { paymentMethods: [samplePaymentMethod('c0ffee05', at)] } }),
    )
    const second = await inserted(invoiceIn(workspaceId, { number: 2 }))
    const methodOn = (matchKey: string) =>
      repository().save({
        id: second.terms.id,
        expectedVersion: 1,
        expectedRefundSeq: 0,
        state: { ...changed(second, 2), paymentMethods: [samplePaymentMethod(matchKey, at)] },
        append: [],
        op: null,
      })
    await expect(methodOn('c0ffee05')).rejects.toThrow(ClaimTaken)
    expect((await repository().findById(second.terms.id))?.state.version).toBe(1)
    expect(await methodOn('c0ffee06')).toBe(true)
    expect(await repository().claimsTaken(['test:evm:c0ffee05', 'test:evm:c0ffee06', 'test:evm:c0ffee07'])).toEqual(
      new Set(['test:evm:c0ffee05', 'test:evm:c0ffee06']),
    )
  })

  // Guarantee: an address once shown to a payer is never given to another invoice.
  it('keeps the claims of earlier locks', async () => {
    const at = Date.now()
    const invoice = await inserted(
      invoiceIn(workspace(), { state: { paymentMethods: [samplePaymentMethod('c0ffee08', at)] } }),
    )
    const paymentMethods = [samplePaymentMethod('c0ffee09', at)]
    const change = {
      id: invoice.terms.id,
      expectedVersion: 1,
      expectedRefundSeq: 0,
      state: { ...changed(invoice, 2), paymentMethods },
      append: [],
      op: null,
    }
    expect(await repository().save(change)).toBe(true)
    expect((await repository().claimsTaken(['test:evm:c0ffee08', 'test:evm:c0ffee09'])).size).toBe(2)
  })
})

describe('outbox', () => {
  it('serves waiting invoices by shard, oldest first, until they are trimmed', async () => {
    const invoice = await inserted(invoiceIn(workspace(), { at: 1_000 }))
    const shards = await repository().overdueOutboxShards(2_000)
    expect(shards).toHaveLength(1)
    const [shard = -1] = shards
    const {
      invoices: [waiting],
      storeNow,
    } = await repository().outboxBatch([shard], 1, null)
    expect(Math.abs((storeNow ?? 0) - Date.now())).toBeLessThan(60_000)
    expect(waiting?.terms.id).toBe(invoice.terms.id)

    await repository().trimOutbox([{ id: invoice.terms.id, throughSeq: 1 }])
    expect(await repository().overdueOutboxShards(2_000)).toEqual([])
    const after = await repository().findById(invoice.terms.id)
    expect(after?.outbox).toEqual([])
    expect(after?.state).toEqual(invoice.state)
  })

  it('keeps entries that came after the relayed ones, and their time', async () => {
    const invoice = await inserted(invoiceIn(workspace(), { at: 3_000 }))
    const state = { ...invoice.state, version: 2, eventSeq: 2 }
    const append = [sampleEntry(invoice.terms.id, 2, 4_000)]
    await repository().save({ id: invoice.terms.id, expectedVersion: 1, expectedRefundSeq: 0, state, append, op: null })
    const stored = () => stores.db.collection(INVOICES).findOne({ _id: invoice.terms.id })
    expect((await stored())?.outboxAt).toEqual(new Date(3_000))
    await repository().trimOutbox([{ id: invoice.terms.id, throughSeq: 1 }])
    expect((await stored())?.outboxAt).toEqual(new Date(4_000))
    expect((await stored())?.outbox.map((entry) => entry.seq)).toEqual([2])
  })
})
