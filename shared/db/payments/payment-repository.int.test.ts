import { beforeEach, describe, expect, it } from 'vitest'
import { CHAIN_CURSORS } from '#shared/db/scanning/cursor-model.ts'
import { ScannerFenced } from '#shared/ports/payments.ts'
import { sampleObservation } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { PAYMENTS } from './payment-model.ts'
import { createPaymentRepository } from './payment-repository.ts'

const stores = useStores()
beforeEach(() => stores.db.collection(PAYMENTS).deleteMany({}))
const repository = () => createPaymentRepository(stores.db, stores.runtime.random)
/** Keys, invoices and heights of each test are its own: all of them share the collection. */
let heights = 0
function scene() {
  const id = stores.runtime.random.uuid()
  heights += 1_000
  const base = heights
  const block = (offset: number, fork = '') => ({
    height: base + offset,
    hash: `0x${base + offset}${fork}`,
    time: 1_000 + offset,
  })
  const observation = (overrides: Parameters<typeof sampleObservation>[1] = {}) =>
    sampleObservation(`ethereum:${id}:0`, { invoiceId: id, block: block(0), ...overrides })
  const scope = { mode: 'test' as const, network: 'ethereum' as const }
  return { id, base, block, observation, scope }
}

describe('recordObservations', () => {
  it('stores a first observation as version 1 with a public id and the height of its confirmation', async () => {
    const { id, base, block, observation } = scene()
    const [payment] = await repository().recordObservations([observation()], 1, 5_000)
    expect(payment).toMatchObject({
      key: `ethereum:${id}:0`,
      invoiceId: id,
      amountBase: 100_000_000n,
      state: 'detected',
      block: block(0),
      confirmAt: base + 2,
      confirmedAt: null,
      firstSeenAt: 1_000,
      version: 1,
      dirtyAt: 5_000,
      scanEpoch: 1,
      createdAt: 5_000,
      updatedAt: 5_000,
    })
    expect(payment?.id).toMatch(/^[0-9a-f-]{36}$/)
    const stored = await stores.db.collection(PAYMENTS).findOne({ _id: payment?.id ?? '' })
    expect(PAYMENTS.schema.strict().safeParse(stored).error).toBeUndefined()
  })

  // Guarantee: scanning a block again counts nothing again.
  it('changes nothing when the same blocks are scanned again, even by a newer holder', async () => {
    const { id, observation } = scene()
    const [first] = await repository().recordObservations([observation()], 1, 5_000)
    expect(await repository().recordObservations([observation({ firstSeenAt: 9_999 })], 2, 6_000)).toEqual([])
    expect(await repository().listByInvoice(id)).toEqual([{ ...first, scanEpoch: 2 }])
  })

  it('follows the chain: mempool, block, another block', async () => {
    const { base, block, observation } = scene()
    const [waiting] = await repository().recordObservations([observation({ block: null })], 1, 1)
    expect(waiting).toMatchObject({ version: 1, block: null, confirmAt: null })
    const [mined] = await repository().recordObservations([observation({ firstSeenAt: 2_000 })], 1, 2)
    expect(mined).toMatchObject({
      id: waiting?.id,
      version: 2,
      block: block(0),
      confirmAt: base + 2,
      firstSeenAt: 1_000,
    })
    expect(await repository().recordObservations([observation({ block: null })], 1, 3)).toEqual([])
    const [moved] = await repository().recordObservations([observation({ block: block(1, 'b') })], 1, 4)
    expect(moved).toMatchObject({ version: 3, block: block(1, 'b'), confirmAt: base + 3 })
  })

  // Guarantee: a scanner that lost its lease writes nothing.
  it('refuses a holder with an older epoch and keeps what the newer one wrote', async () => {
    const { id, block, observation } = scene()
    const [newer] = await repository().recordObservations([observation()], 5, 1)
    await expect(repository().recordObservations([observation({ block: block(1, 'b') })], 4, 2)).rejects.toThrow(
      ScannerFenced,
    )
    expect(await repository().listByInvoice(id)).toEqual([newer])
  })

  // Guarantee: one transfer key never stands for two amounts in one block.
  it('throws on another amount for a known key and writes nothing', async () => {
    const { id, observation } = scene()
    const [first] = await repository().recordObservations([observation()], 1, 1)
    await expect(repository().recordObservations([observation({ amountBase: 1n })], 1, 2)).rejects.toThrow(/base units/)
    expect(await repository().listByInvoice(id)).toEqual([first])
  })

  it('stores one payment when the same transfer is recorded ten times at once', async () => {
    const { id, observation } = scene()
    const results = await Promise.all(
      Array.from({ length: 10 }, () => repository().recordObservations([observation()], 1, 1)),
    )
    expect(results.flat()).toHaveLength(1)
    expect(await repository().listByInvoice(id)).toHaveLength(1)
  })

  it('leaves money of no invoice out of the sweep and takes hostile text as text', async () => {
    const { observation } = scene()
    const [payment] = await repository().recordObservations(
      [observation({ invoiceId: null, workspaceId: null, fromAddress: '$version', uncountedReason: 'unmatched' })],
      1,
      1,
    )
    expect(payment).toMatchObject({ dirtyAt: null, fromAddress: '$version', uncountedReason: 'unmatched' })
  })
})

describe('confirmThrough', () => {
  it('confirms each payment once, at its height', async () => {
    const { base, scope, observation } = scene()
    await repository().recordObservations([observation()], 1, 1)
    expect(
      await repository().confirmThrough({ ...scope, finalizedHeight: null, height: base + 1, epoch: 1, at: 2 }),
    ).toEqual([])
    const [confirmed, ...others] = await repository().confirmThrough({
      ...scope,
      finalizedHeight: null,
      height: base + 2,
      epoch: 1,
      at: 3,
    })
    expect(others).toEqual([])
    expect(confirmed).toMatchObject({ state: 'confirmed', confirmedAt: 3, version: 2, dirtyAt: 3, updatedAt: 3 })
    expect(
      await repository().confirmThrough({ ...scope, finalizedHeight: null, height: base + 3, epoch: 1, at: 4 }),
    ).toEqual([])
  })

  it('is fenced', async () => {
    const { id, base, scope, observation } = scene()
    await repository().recordObservations([observation()], 5, 1)
    await expect(
      repository().confirmThrough({ ...scope, finalizedHeight: null, height: base + 2, epoch: 4, at: 2 }),
    ).rejects.toThrow(ScannerFenced)
    expect(await repository().listByInvoice(id)).toMatchObject([{ state: 'detected' }])
    await repository().confirmThrough({ ...scope, finalizedHeight: null, height: base + 2, epoch: 5, at: 2 })
  })

  // Guarantee: only a block of the scanned chain confirms. A scanner that slept may store a payment of a dead block at any time.
  it('takes back what stands in another block than the scanned chain has at that height', async () => {
    const { id, base, block, scope, observation } = scene()
    const sound = sampleObservation(`ethereum:${id}:1`, { invoiceId: id, block: block(1) })
    await repository().recordObservations([observation({ block: block(0, 'dead') }), sound], 1, 1)
    const cursors = stores.db.collection(CHAIN_CURSORS)
    const window: [number, string][] = [0, 1, 2, 3].map((offset) => [base + offset, block(offset).hash])
    await cursors.updateOne(
      { _id: 'test:ethereum' },
      { $set: { window } },
      { upsert: true, bypassDocumentValidation: true },
    )

    const changed = await repository().confirmThrough({
      ...scope,
      finalizedHeight: null,
      height: base + 3,
      epoch: 1,
      at: 2,
    })
    await cursors.deleteMany({})
    expect(changed.map(({ key, state }) => ({ key, state }))).toEqual([
      { key: `ethereum:${id}:1`, state: 'confirmed' },
      { key: `ethereum:${id}:0`, state: 'orphaned' },
    ])
  })
})

describe('orphanAbove', () => {
  it('takes live payments above the fork out of their blocks, and a new block brings them back', async () => {
    const { base, block, scope, observation } = scene()
    await repository().recordObservations([observation()], 1, 1)
    await repository().confirmThrough({ ...scope, finalizedHeight: null, height: base + 2, epoch: 1, at: 2 })
    expect(await repository().orphanAbove({ ...scope, forkHeight: base, epoch: 1, at: 3 })).toEqual([])
    const [orphaned] = await repository().orphanAbove({ ...scope, forkHeight: base - 1, epoch: 1, at: 3 })
    expect(orphaned).toMatchObject({ state: 'orphaned', block: null, confirmAt: null, confirmedAt: null, version: 3 })
    const [again] = await repository().recordObservations(
      [observation({ block: block(1, 'b'), firstSeenAt: 9_000 })],
      1,
      4,
    )
    expect(again).toMatchObject({ state: 'detected', block: block(1, 'b'), version: 4, firstSeenAt: 1_000 })
    await repository().orphanAbove({ ...scope, forkHeight: base - 1, epoch: 1, at: 5 })
  })

  it('is fenced', async () => {
    const { base, scope, observation } = scene()
    await repository().recordObservations([observation()], 5, 1)
    await expect(repository().orphanAbove({ ...scope, forkHeight: base - 1, epoch: 4, at: 2 })).rejects.toThrow(
      ScannerFenced,
    )
    await repository().orphanAbove({ ...scope, forkHeight: base - 1, epoch: 5, at: 2 })
  })
})

// Guarantee: the books keep every turn of a payment: what a reorganisation takes back stays booked on the day on which it came.
it('remembers when a payment was confirmed and when that was taken back', async () => {
  const { id, base, block, scope, observation } = scene()
  const confirm = (at: number) =>
    repository().confirmThrough({ ...scope, finalizedHeight: null, height: base + 9, epoch: 1, at })
  const booked = async () => (await repository().listByInvoice(id)).map(({ bookedAt }) => bookedAt)
  await repository().recordObservations([observation()], 1, 1)
  expect(await booked()).toEqual([[]])
  await confirm(10)
  expect(await booked()).toEqual([[10]])
  await repository().orphanAbove({ ...scope, forkHeight: base - 1, epoch: 1, at: 20 })
  await repository().orphanAbove({ ...scope, forkHeight: base - 1, epoch: 1, at: 21 })
  expect(await booked()).toEqual([[10, 20]])
  await repository().recordObservations([observation({ block: block(0, 'b') })], 1, 30)
  await confirm(40)
  expect(await booked()).toEqual([[10, 20, 40]])
  // Moved to another block at once, without a look at the fork.
  await repository().recordObservations([observation({ block: block(1, 'c') })], 1, 50)
  expect(await booked()).toEqual([[10, 20, 40, 50]])
})

describe('the fold', () => {
  it('clears the hint only for the version that was applied', async () => {
    const { id, base, scope, observation } = scene()
    const [first] = await repository().recordObservations([observation()], 1, 100)
    await repository().confirmThrough({ ...scope, finalizedHeight: null, height: base + 2, epoch: 1, at: 200 })
    const key = first?.key ?? ''
    const evaluated = { key, counted: true, uncountedReason: null, late: true, place: 'in' }
    await repository().markApplied([{ ...evaluated, version: 1 }])
    const dirty = (before: number) => repository().takeDirtyInvoices({ before, at: before, limit: 1_000 })
    expect(await dirty(199)).not.toContain(id)
    expect(await dirty(200)).toContain(id)
    const market = { fiatPerAsset: '0.99', decimals: 6, at: 90, sources: ['a'], fxSources: ['b'] }
    await repository().markApplied([{ ...evaluated, version: 2, market }])
    expect(await dirty(200)).not.toContain(id)
    // A later decision without a price keeps the one that is stored.
    await repository().markApplied([{ ...evaluated, version: 2 }])
    expect(await repository().listByInvoice(id)).toMatchObject([
      { counted: true, late: true, dirtyAt: null, version: 2, market },
    ])
  })

  // Guarantee: no invoice that cannot be advanced keeps the payments of others from being applied.
  it('names every waiting invoice in turn, however many rows of stuck ones stand before it', async () => {
    const stuck = scene()
    const rows = Array.from({ length: 12 }, (_, index) => stuck.observation({ key: `ethereum:${stuck.id}:${index}` }))
    await repository().recordObservations(rows, 1, 100)
    const waiting = scene()
    await repository().recordObservations([waiting.observation()], 1, 110)
    const sweep = (at: number) => repository().takeDirtyInvoices({ before: at - 10, at, limit: 1 })
    expect([await sweep(200), await sweep(300), await sweep(400), await sweep(500)]).toEqual(
      [stuck, waiting, stuck, waiting].map(({ id }) => [id]),
    )
    // Named a moment ago, it is left to whoever works on it.
    expect(await sweep(501)).toEqual([stuck.id])
    expect(await sweep(502)).toEqual([])
  })

  it('inserts a simulated payment once, which no scanner touches', async () => {
    const { id, base, scope, observation } = scene()
    const [real] = await repository().recordObservations([observation()], 1, 1)
    if (real === undefined) throw new Error('the observation was stored')
    const simulated = {
      ...real,
      id: stores.runtime.random.uuid(),
      key: `sim:${id}:1`,
      kind: 'simulated' as const,
      confirmAt: null,
      scanEpoch: 0,
    }
    expect(await repository().insertSimulated(simulated)).toBe('inserted')
    expect(await repository().insertSimulated({ ...simulated, id: 'other' })).toBe('exists')
    const moved = await repository().orphanAbove({ ...scope, forkHeight: base - 1, epoch: 1, at: 3 })
    expect(moved.map((payment) => payment.key)).toEqual([real.key])
    expect(await repository().listByInvoice(id)).toContainEqual(simulated)
  })

  it('lists every payment of the invoices of a workspace newest first, whether it counts or not', async () => {
    const { id, block } = scene()
    const keys = ['a', 'b', 'c', 'd'].map((end) => `ethereum:${id}:${end}`)
    for (const [index, key] of keys.entries()) {
      const uncountedReason = index === 2 ? ('wrong_asset' as const) : null
      const mine = sampleObservation(key, {
        workspaceId: id,
        invoiceId: `${id}-${index}`,
        block: block(0),
        uncountedReason,
      })
      await repository().recordObservations([mine], 1, 1)
    }
    // A token that nobody knows takes no place in a page: the page would end early.
    const unknown = { workspaceId: id, invoiceId: `${id}-0`, block: block(0), asset: null }
    await repository().recordObservations([sampleObservation(`ethereum:${id}:e`, unknown)], 1, 1)
    const query = { workspaceId: id, mode: 'test' as const, invoiceId: null, limit: 4, beforeId: null }
    const listed = await repository().list(query)
    expect(listed.map((payment) => payment.key)).toEqual([keys[3], keys[2], keys[1], keys[0]])
    const after = await repository().list({ ...query, beforeId: listed[0]?.id ?? null, limit: 1 })
    expect(after.map((payment) => payment.key)).toEqual([keys[2]])
    expect(await repository().list({ ...query, invoiceId: `${id}-0` })).toHaveLength(1)
    expect(await repository().list({ ...query, mode: 'live' })).toEqual([])
  })
})
