import { beforeEach, describe, expect, it } from 'vitest'
import { createAdvanceFailures } from '#shared/db/invoices/advance-failures.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { deepTest } from '#test/support/depth.ts'
import { type Engine, openEngine } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { createInvoiceAdvancer, pauseAfter } from './advance-invoice.ts'

const stores = useStores()
let engine: Engine
beforeEach(async () => {
  engine = await openEngine(stores)
})

const advancer = () => createInvoiceAdvancer({ ...engine.deps, failures: createAdvanceFailures(stores.db) })
const inbox = async () =>
  (await engine.deps.exceptions.listOpen(engine.workspace.id)).filter(({ kind }) => kind === 'invoice_blocked')

/** An invoice that is due and cannot be read. */
async function broken(): Promise<string> {
  const { terms } = await engine.open({})
  await stores.db.collection(INVOICES).updateOne({ _id: terms.id }, { $set: { partialAnnouncedBase: 'no number' } })
  return terms.id
}

/** Sweeps once a second for so long, as one process; how often the invoice was tried. */
async function sweep(one: ReturnType<typeof advancer>, id: string, seconds: number): Promise<number> {
  let tries = 0
  for (let second = 0; second < seconds; second += 1) {
    engine.advance(1_000)
    if (!(await one.overdue()).includes(id)) continue
    tries += 1
    await one.advance(id).catch(() => undefined)
  }
  return tries
}

describe('an invoice that cannot be brought up to date', () => {
  deepTest('is tried less and less often, by all processes together, and nothing else waits for it', async () => {
    const id = await broken()
    const sound = await engine.open({})
    engine.advance(2 * 86_400_000)
    const [one, other] = [advancer(), advancer()]
    expect(await one.overdue()).toEqual(expect.arrayContaining([id, sound.terms.id]))
    await one.advance(sound.terms.id)
    const tries = (await sweep(one, id, 60)) + (await sweep(other, id, 60))
    expect(tries).toBeGreaterThan(3)
    expect(tries).toBeLessThan(9)
    expect(await one.overdue()).not.toContain(sound.terms.id)
  })

  it('reaches the inbox after ten failures, and leaves it once it is brought up to date', async () => {
    const id = await broken()
    engine.advance(2 * 86_400_000)
    const one = advancer()
    for (let failure = 1; failure <= 9; failure += 1) await expect(one.advance(id)).rejects.toThrow()
    expect(await inbox()).toEqual([])
    await expect(one.advance(id)).rejects.toThrow()
    expect(await inbox()).toMatchObject([{ id: `invoice_blocked:${id}`, invoiceId: id }])
    await stores.db.collection(INVOICES).updateOne({ _id: id }, { $set: { partialAnnouncedBase: '0' } })
    engine.advance(600_000)
    expect(await one.overdue()).toContain(id)
    await one.advance(id)
    expect(await inbox()).toEqual([])
    expect((await createAdvanceFailures(stores.db).list()).has(id)).toBe(false)
    // It may break again: the entry of before was closed and opens once more.
    await stores.db.collection(INVOICES).updateOne({ _id: id }, { $set: { partialAnnouncedBase: 'no number' } })
    for (let failure = 1; failure <= 10; failure += 1) await expect(one.advance(id)).rejects.toThrow()
    expect(await inbox()).toHaveLength(1)
  })

  it('is advanced whenever somebody asks, whatever its pause', async () => {
    const id = await broken()
    const one = advancer()
    for (let failure = 1; failure <= 5; failure += 1) await expect(one.advance(id)).rejects.toThrow()
    await stores.db.collection(INVOICES).updateOne({ _id: id }, { $set: { partialAnnouncedBase: '0' } })
    await expect(one.advance(id)).resolves.toBeUndefined()
  })

  it('waits at most ten minutes', () => {
    expect([1, 2, 3, 9, 10, 1_000].map(pauseAfter)).toEqual([2_000, 4_000, 8_000, 512_000, 600_000, 600_000])
  })
})
