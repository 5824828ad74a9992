import { beforeEach, describe, expect, it } from 'vitest'
import { ID_TIME_SLACK_MS, uuidLowerBound } from '#shared/db/connection/uuid-time.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import { createInvoiceRepository } from '#shared/db/invoices/invoice-repository.ts'
import { sampleInvoice } from '#test/support/db-samples.ts'
import { useStores } from '#test/support/stores.ts'
import { PAYMENT_LINKS } from './payment-link-model.ts'
import { createPaymentLinkRepository } from './payment-link-repository.ts'

const MINUTE_MS = 60_000
const stores = useStores()
const repository = () => createPaymentLinkRepository(stores.db)
let nth = 0
let link = ''
let now = 0

beforeEach(async () => {
  now = Date.now()
  link = stores.runtime.random.uuid()
  await repository().insert({
    ...{ id: link, workspaceId: 'ws-1', mode: 'test', status: 'active', title: 'Coffee', description: null },
    ...{ currency: 'EUR', amount: { kind: 'fixed', minor: 350n }, productId: null, usesMax: null, expiresAt: null },
    ...{ createdAt: 1_000, updatedAt: 1_000, deactivatedAt: null },
  })
})

/** Invoices of the link that carry this time in their ids. */
async function create(count: number, at: number): Promise<void> {
  const invoices = createInvoiceRepository(stores.db)
  const made = Array.from({ length: count }, () => {
    nth += 1
    const id = `${uuidLowerBound(at).slice(0, 13)}-7000-8000-${nth.toString(16).padStart(12, '0')}`
    const invoice = sampleInvoice(stores.runtime.random, { number: nth })
    return { ...invoice, terms: { ...invoice.terms, id, paymentLinkId: link } }
  })
  for (const invoice of made) expect(await invoices.insert(invoice)).toMatchObject({ inserted: true })
}

const uses = async (at = now) => (await repository().countUses([link], at)).get(link) ?? 0
const stored = async () => (await stores.db.collection(PAYMENT_LINKS).findOne({ _id: link }))?.counted ?? null
const all = () => stores.db.collection(INVOICES).countDocuments({ paymentLinkId: link })

describe('the invoices of a link', () => {
  it('are counted from the stored count on, which has only ids that no create can still add', async () => {
    await create(90, now - 2 * ID_TIME_SLACK_MS)
    expect(await uses()).toBe(90)
    expect(await stored()).toBeNull()
    await create(30, now - MINUTE_MS)
    expect(await uses()).toBe(120)
    expect(await stored()).toEqual({ through: uuidLowerBound(now - ID_TIME_SLACK_MS), uses: 90 })
    // A create whose id is almost an hour old when it is stored.
    await create(1, now - ID_TIME_SLACK_MS + 1)
    expect(await uses()).toBe(121)
    expect(await repository().findById(link)).not.toHaveProperty('counted')
  })

  it('are counted once, whoever advances the stored count, and when nobody can', async () => {
    await create(150, now - 3 * ID_TIME_SLACK_MS)
    expect(await Promise.all(Array.from({ length: 8 }, () => uses()))).toEqual(Array(8).fill(150))
    expect(await stored()).toMatchObject({ uses: 150 })
    await create(130, now + MINUTE_MS)
    const later = now + 2 * ID_TIME_SLACK_MS
    // Several processes with clocks that differ by less than the hour that an id may be old, while others create.
    const [, , ...counts] = await Promise.all([
      create(20, later),
      create(20, later + MINUTE_MS),
      ...Array.from({ length: 12 }, (_, process) => uses(later + process * 5 * MINUTE_MS)),
    ])
    for (const count of counts) {
      expect(count).toBeGreaterThanOrEqual(280)
      expect(count).toBeLessThanOrEqual(320)
    }
    expect(await uses(later + 5 * ID_TIME_SLACK_MS)).toBe(320)
    expect(await uses(now)).toBe(await all())
  })

  it('are not written for each read of a busy link', async () => {
    await create(110, now - 2 * ID_TIME_SLACK_MS)
    await uses()
    const first = await stored()
    await create(110, now)
    expect(await uses(now + 9 * MINUTE_MS)).toBe(220)
    expect(await stored()).toEqual(first)
    expect(await uses(now + 11 * MINUTE_MS)).toBe(220)
    expect((await stored())?.through).toBe(uuidLowerBound(now + 11 * MINUTE_MS - ID_TIME_SLACK_MS))
  })
})
