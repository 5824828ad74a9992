import { describe, expect, it } from 'vitest'
import { ClaimTaken, type NewInvoice } from '#shared/ports/invoices.ts'
import { sampleEntry, sampleInvoice, sampleLock, sampleState } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { INVOICES } from './invoice-model.ts'
import { createInvoiceRepository } from './invoice-repository.ts'

const stores = useStores()
const repository = () => createInvoiceRepository(stores.db)
const invoiceIn = (workspaceId: string, overrides: Parameters<typeof sampleInvoice>[1] = {}): NewInvoice =>
  sampleInvoice(stores.ambient.random, { workspaceId, ...overrides })
const workspace = () => stores.ambient.random.uuid()

async function inserted(invoice: NewInvoice): Promise<NewInvoice> {
  expect(await repository().insert(invoice)).toEqual({ inserted: true })
  return invoice
}

describe('insert', () => {
  it('gives back exactly what was put in', async () => {
    const at = Date.now()
    const lock = sampleLock('c0ffee01', at)
    const invoice = invoiceIn(workspace(), { at, opId: 'op-1', idempotencyKey: 'k', state: { locks: [lock] } })
    await inserted(invoice)
    const found = await repository().findById(invoice.terms.id)
    expect(found).toEqual({
      terms: invoice.terms,
      state: invoice.state,
      outbox: invoice.outbox,
      lastOps: [{ opId: 'op-1', seq: 1 }],
    })
  })

  it('writes documents that the schema describes', async () => {
    const at = Date.now()
    const invoice = invoiceIn(workspace(), { at, idempotencyKey: 'k', state: { locks: [sampleLock('c0ffee02', at)] } })
    await inserted(invoice)
    const stored = await stores.db.collection(INVOICES).findOne({ _id: invoice.terms.id })
    const Model = stores.db.connection.model('schema-check-invoices', INVOICES.schema)
    expect(() => new Model(stored)).not.toThrow()
    await expect(new Model(stored).validate()).resolves.toBeUndefined()
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
      invoiceIn(workspaceId, { number: 7, at, state: { locks: [sampleLock('c0ffee03', at)] } }),
    )
    expect(await repository().insert(invoiceIn(workspaceId, { number: 7 }))).toEqual({
      inserted: false,
      conflict: 'number',
    })
    const sameAddress = invoiceIn(workspaceId, { number: 8, state: { locks: [sampleLock('c0ffee03', at)] } })
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
          invoiceIn(workspaceId, { number: index + 1, state: { locks: [sampleLock('c0ffee04', at)] } }),
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
    await inserted(invoiceIn(workspaceId, { number: 1, state: { locks: [sampleLock('c0ffee05', at)] } }))
    const second = await inserted(invoiceIn(workspaceId, { number: 2 }))
    const lockOn = (matchKey: string) =>
      repository().save({
        id: second.terms.id,
        expectedVersion: 1,
        state: { ...changed(second, 2), locks: [sampleLock(matchKey, at)] },
        append: [],
        op: null,
      })
    await expect(lockOn('c0ffee05')).rejects.toThrow(ClaimTaken)
    expect((await repository().findById(second.terms.id))?.state.version).toBe(1)
    expect(await lockOn('c0ffee06')).toBe(true)
    expect(await repository().claimsTaken(['test:evm:c0ffee05', 'test:evm:c0ffee06', 'test:evm:c0ffee07'])).toEqual(
      new Set(['test:evm:c0ffee05', 'test:evm:c0ffee06']),
    )
  })

  // Guarantee: an address once shown to a payer is never given to another invoice.
  it('keeps the claims of earlier locks', async () => {
    const at = Date.now()
    const invoice = await inserted(invoiceIn(workspace(), { state: { locks: [sampleLock('c0ffee08', at)] } }))
    const locks = [sampleLock('c0ffee09', at)]
    const change = {
      id: invoice.terms.id,
      expectedVersion: 1,
      state: { ...changed(invoice, 2), locks },
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
    const [waiting] = await repository().outboxBatch([shard], 1, null)
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
    await repository().save({ id: invoice.terms.id, expectedVersion: 1, state, append, op: null })
    const stored = () => stores.db.collection(INVOICES).findOne({ _id: invoice.terms.id })
    expect((await stored())?.outboxAt).toEqual(new Date(3_000))
    await repository().trimOutbox([{ id: invoice.terms.id, throughSeq: 1 }])
    expect((await stored())?.outboxAt).toEqual(new Date(4_000))
    expect((await stored())?.outbox.map((entry) => entry.seq)).toEqual([2])
  })
})

describe('lookups', () => {
  it('lists newest first with cursor, status, order and time bounds', async () => {
    const workspaceId = workspace()
    const ids: string[] = []
    const at = Date.now()
    for (let number = 1; number <= 5; number++) {
      const orderId = number % 2 === 0 ? 'even' : 'odd'
      ids.unshift((await inserted(invoiceIn(workspaceId, { number, orderId, at: at + number }))).terms.id)
    }
    const query = {
      workspaceId,
      mode: 'test' as const,
      limit: 10,
      beforeId: null,
      status: null,
      orderId: null,
      createdAfter: null,
      createdBefore: null,
    }
    const idsOf = async (overrides: Partial<Parameters<ReturnType<typeof repository>['list']>[0]>) =>
      (await repository().list({ ...query, ...overrides })).map((invoice) => invoice.terms.id)
    expect(await idsOf({})).toEqual(ids)
    expect(await idsOf({ limit: 2, beforeId: ids[1] ?? null })).toEqual(ids.slice(2, 4))
    expect(await idsOf({ orderId: 'even' })).toEqual([ids[1], ids[3]])
    expect(await idsOf({ status: 'paid' })).toEqual([])
    expect(await idsOf({ createdAfter: at + 2, createdBefore: at + 5 })).toEqual([ids[1], ids[2]])
    expect(await idsOf({ mode: 'live' })).toEqual([])
    expect(await repository().highestNumber(workspaceId, 'test')).toBe(5)
    expect(await repository().highestNumber(workspaceId, 'live')).toBe(0)
    expect(await repository().countCreatedSince(workspaceId, 'test', at + 3)).toBe(3)
    expect(await repository().findInWorkspace(workspaceId, 'live', ids[0] ?? '')).toBeNull()
  })

  it('finds by idempotency key and frees the key only for the guard that was read', async () => {
    const workspaceId = workspace()
    const invoice = await inserted(invoiceIn(workspaceId, { idempotencyKey: 'old', at: 5_000 }))
    const found = await repository().findByIdempotencyKey(workspaceId, 'test', 'old')
    expect(found?.invoice.terms.id).toBe(invoice.terms.id)
    expect(found?.idempotency).toEqual(invoice.idempotency)
    if (invoice.idempotency === null) throw new Error('the sample has a guard')
    const release = (at: number) =>
      repository().releaseIdempotencyKey(invoice.terms.id, { key: 'old', fingerprint: '', requestId: '', at })
    expect(await release(5_001)).toBe(false)
    expect(await Promise.all([release(5_000), release(5_000)]).then((freed) => freed.filter(Boolean))).toHaveLength(1)
    expect(await repository().findByIdempotencyKey(workspaceId, 'test', 'old')).toBeNull()
  })

  // Guarantee: a released claim can be taken by another invoice, and no later change of the first one takes it back.
  it('finds who holds a claim or reference, and ends claims in one compare-and-set', async () => {
    const at = Date.now()
    const hold = { kind: 'address', quarantineMs: 86_400_000, releasedAt: null } as const
    const locks = [
      sampleLock('c0ffee10', at, { to: at + 1, hold, reference: 'abcd' }),
      sampleLock('c0ffee11', at, { formerClaims: ['test:evm:c0ffee99'] }),
    ]
    const invoice = await inserted(invoiceIn(workspace(), { at, state: { locks } }))
    const { id, workspaceId } = invoice.terms
    const holder = { invoiceId: id, workspaceId, number: invoice.terms.number, locks }
    const released = 'test:evm:c0ffee10'
    for (const claim of [released, 'test:evm:c0ffee99']) {
      expect(await repository().findByClaims([claim, 'unknown'])).toEqual([holder])
    }
    expect(await repository().findByReferences('test', ['abcd', 'ffff'])).toEqual([holder])
    expect(await repository().findByReferences('live', ['abcd'])).toEqual([])

    // A lock without `heldMs` is of before decision 50: a day after the invoice and its quarantine.
    const due = invoice.state.expiresAt + 86_400_000 + hold.quarantineMs
    const mark = { invoiceId: id, releaseAt: due }
    expect(await repository().dueForRelease(due - 1, null, 10)).toEqual([])
    expect(await repository().dueForRelease(due, null, 10)).toEqual([mark])
    expect(await repository().dueForRelease(due, mark, 10)).toEqual([])

    const [pooled, own] = locks
    if (pooled === undefined || own === undefined) throw new Error('there are two')
    const state = { ...invoice.state, locks: [{ ...pooled, hold: { ...hold, releasedAt: at } }, own] }
    expect(await repository().releaseClaims(id, 7, state)).toBe(false)
    expect(await repository().releaseClaims(id, 1, state)).toBe(true)
    expect(await repository().findByClaims([released])).toEqual([])
    expect(await repository().claimsTaken([released, own.claim])).toEqual(new Set([own.claim]))
    expect(await repository().dueForRelease(due, null, 10)).toEqual([])
    expect(await repository().findByReferences('test', ['abcd'])).toHaveLength(1)

    const next = await inserted(invoiceIn(workspace(), { at, state: { locks: [pooled] } }))
    const change = { id, expectedVersion: 2, append: [], op: null }
    expect(await repository().save({ ...change, state: { ...state, version: 3 } })).toBe(true)
    expect((await repository().findByClaims([released])).map(({ invoiceId }) => invoiceId)).toEqual([next.terms.id])
  })

  it('finds due actions by chain, oldest first, and forgets them when nothing is left to do', async () => {
    const at = 10_000
    const locked = (matchKey: string, nextActionAt: number) =>
      invoiceIn(workspace(), {
        at,
        state: { nextActionAt, locks: [sampleLock(matchKey, at, { network: 'polygon', asset: 'usdt_polygon' })] },
      })
    const later = await inserted(locked('c0ffee12', 12_000))
    const sooner = await inserted(locked('c0ffee13', 11_000))
    expect(await repository().dueForAction('test:polygon', 12_000, 10)).toEqual([sooner.terms.id, later.terms.id])
    expect(await repository().dueForAction('test:polygon', 12_000, 10, 1)).toEqual([later.terms.id])
    expect(await repository().dueForAction('test:polygon', 11_500, 10)).toEqual([sooner.terms.id])
    const state = { ...sooner.state, version: 2, nextActionAt: null }
    await repository().save({ id: sooner.terms.id, expectedVersion: 1, state, append: [], op: null })
    expect(await repository().dueForAction('test:polygon', 12_000, 10)).toEqual([later.terms.id])
  })
})
