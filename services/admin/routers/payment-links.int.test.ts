import { beforeAll, describe, expect, it } from 'vitest'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let ana: AdminCaller

beforeAll(async () => {
  ana = await adminCaller(stores, { role: 'support', email: 'ana@example.com' })
})

const op = () => ana.deps.random.uuid()
const actionsOn = (subject: string) => ana.deps.money.audits.listBySubject(subject)

describe('payment links by operators', () => {
  // Guarantee: an action that is sent twice makes one link, and one row of the audit trail.
  it('are made once per action, listed newest first, and ended for good', async () => {
    const action = { ...ana.at, opId: op(), link: { title: 'Donation', currency: 'USD', allow_custom_amount: true } }
    const link = await ana.caller.paymentLinks.create(action)
    expect(await ana.caller.paymentLinks.create(action)).toEqual(link)
    const other = await ana.caller.paymentLinks.create({
      ...action,
      opId: op(),
      link: { ...action.link, title: 'Second' },
    })
    const { items } = await ana.caller.paymentLinks.list(ana.at)
    expect(items.map(({ id }) => id)).toEqual([other.id, link.id])
    await expect(
      ana.caller.paymentLinks.create({ ...action, link: { ...action.link, title: 'Another' } }),
    ).rejects.toMatchObject({ code: 'CONFLICT' })

    const end = { ...ana.at, id: link.id, reason: 'campaign is over' }
    const ended = await Promise.all([1, 2].map(() => ana.caller.paymentLinks.deactivate({ ...end, opId: op() })))
    expect(ended.map(({ status }) => status)).toEqual(['inactive', 'inactive'])
    expect((await actionsOn(link.id)).map(({ action }) => action)).toEqual([
      'payment_link.created',
      'payment_link.deactivated',
    ])
  })

  it('have the limits that were typed, and refuse those that mean nothing', async () => {
    const link = { title: 'Seat', currency: 'USD', amount: '5.00' }
    const make = (limits: { max_uses?: number; expires_at?: string }) =>
      ana.caller.paymentLinks.create({ ...ana.at, opId: op(), link: { ...link, ...limits } })
    const { id } = await make({ max_uses: 12, expires_at: '2099-12-31T22:59:00.000Z' })
    const stored = await ana.caller.paymentLinks.get({ ...ana.at, id })
    expect(stored).toMatchObject({ max_uses: 12, expires_at: '2099-12-31T22:59:00.000Z', uses: 0 })
    for (const wrong of [{ max_uses: 0 }, { max_uses: 1_001 }, { max_uses: 1.5 }, { expires_at: 'soon' }])
      await expect(make(wrong)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await expect(make({ expires_at: '2001-01-01T00:00:00Z' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const other = await adminCaller(stores)
    expect((await other.caller.paymentLinks.list(other.at)).items).toEqual([])
  })

  it('say which field is wrong, and are unknown to strangers', async () => {
    const wrong = ana.caller.paymentLinks.create({ ...ana.at, opId: op(), link: { title: 'x', currency: 'USD' } })
    await expect(wrong).rejects.toMatchObject({ code: 'BAD_REQUEST', cause: { code: 'VALIDATION_ERROR' } })
    const [link] = (await ana.caller.paymentLinks.list(ana.at)).items
    const stranger = await adminCaller(stores)
    const get = stranger.caller.paymentLinks.get({ ...stranger.at, id: link?.id ?? '' })
    await expect(get).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('products by operators', () => {
  it('are added once per action, with who did it', async () => {
    const action = {
      ...ana.at,
      opId: op(),
      product: { name: '<b>Geisha</b>', price: '18.5', currency: 'USD', sku: 'G-1' },
    }
    const [first, second] = await Promise.allSettled([
      ana.caller.products.create(action),
      ana.caller.products.create(action),
    ])
    const made = await ana.caller.products.create(action)
    for (const one of [first, second]) if (one.status === 'fulfilled') expect(one.value).toEqual(made)
    expect(await actionsOn(made.id)).toMatchObject([{ action: 'product.created', actor: 'user:ana@example.com' }])
    const taken = ana.caller.products.create({ ...action, opId: op() })
    await expect(taken).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect((await ana.caller.products.list(ana.at)).items).toHaveLength(1)
  })
})
