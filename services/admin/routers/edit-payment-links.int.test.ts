import { beforeAll, describe, expect, it } from 'vitest'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let ana: AdminCaller
beforeAll(async () => {
  ana = await adminCaller(stores, { role: 'support', email: 'ana@example.com' })
})

const op = () => ana.deps.random.uuid()
const actionsOn = async (subject: string) =>
  (await ana.deps.money.audits.listBySubject(subject)).map(({ action }) => action)
const make = async (terms: object = { amount: '5.00' }) => {
  const link = { title: 'Seat', currency: 'USD', ...terms }
  const { id } = await ana.caller.paymentLinks.create({ ...ana.at, opId: op(), link })
  return await seen(id)
}
const seen = async (id: string) => {
  const link = await ana.caller.paymentLinks.get({ ...ana.at, id })
  return { ...link, version: Date.parse(link.updated_at) }
}
type Edit = Parameters<AdminCaller['caller']['paymentLinks']['update']>[0]
const edit = ({ id, version }: { id: string; version: number }, link: Partial<Edit['link']>, by = ana) =>
  by.caller.paymentLinks.update({ ...by.at, opId: op(), id, version, link: { title: 'Seat', ...link } })

describe('an edit of a payment link', () => {
  it('replaces title, description, amount and limits, and leaves one row of the audit trail', async () => {
    const link = await make({ amount: '5.00', max_uses: 3, description: 'Row 1' })
    const expires_at = '2099-12-31T22:59:00.000Z'
    const edited = await edit(link, { title: 'Place', amount: '6.5', max_uses: 5, expires_at })
    expect(edited).toMatchObject({ title: 'Place', description: null, amount: '6.50', max_uses: 5, expires_at })
    expect(edited).toMatchObject({ currency: 'USD', uses: 0, uses_taken: 0 })
    expect(await ana.caller.paymentLinks.get({ ...ana.at, id: link.id })).toEqual(edited)
    expect((await ana.caller.paymentLinks.list(ana.at)).items).toContainEqual(edited)
    const free = await edit(await seen(link.id), { amount: '6.5' })
    expect(free).toMatchObject({ max_uses: null, expires_at: null, uses_taken: null })
    const updates = ['payment_link.updated', 'payment_link.updated']
    expect(await actionsOn(link.id)).toEqual(['payment_link.created', ...updates])
    const custom = await make({ allow_custom_amount: true, min_amount: '1' })
    expect(await edit(custom, { max_amount: '9' })).toMatchObject({ min_amount: null, max_amount: '9.00' })
  })

  // Guarantee: of two operators who edit at the same time one wins, and the other reads who that was; nothing is half of each.
  it('is refused to everyone but the first of those who saw the same version', async () => {
    const link = await make()
    const ben = await adminCaller(stores, { role: 'support', email: 'ben@example.com', workspaceId: ana.workspaceId })
    const results = await Promise.allSettled([
      edit(link, { title: 'From Ana', amount: '7' }),
      edit(link, { title: 'From Ben', amount: '8' }, ben),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const winner = results[0]?.status === 'fulfilled' ? ['From Ana', '7.00', 'ana'] : ['From Ben', '8.00', 'ben']
    const stored = await seen(link.id)
    expect([stored.title, stored.amount]).toEqual(winner.slice(0, 2))
    const late = edit(link, { amount: '9' })
    await expect(late).rejects.toMatchObject({ code: 'CONFLICT', cause: { code: 'INVALID_STATE' } })
    await expect(late).rejects.toThrow(`${winner[2]}@example.com changed this payment link`)
    expect(await actionsOn(link.id)).toEqual(['payment_link.created', 'payment_link.updated'])
    expect(await seen(link.id)).toEqual(stored)
  })

  it('says which field is wrong, and changes nothing then', async () => {
    const link = await make({ amount: '5.00', max_uses: 3 })
    const wrong = [
      { amount: '0' },
      { amount: '1,5' },
      { amount: '5', min_amount: '1' },
      { title: ' ', amount: '5' },
      { amount: '5', max_uses: 0 },
      { amount: '5', max_uses: 1_001 },
      { amount: '5', expires_at: '2001-01-01T00:00:00Z' },
      {},
    ]
    for (const one of wrong) await expect(edit(link, one)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const custom = await make({ allow_custom_amount: true })
    for (const one of [{ amount: '5' }, { min_amount: '9', max_amount: '1' }])
      await expect(edit(custom, one)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect(await seen(link.id)).toEqual(link)
    expect(await seen(custom.id)).toEqual(custom)
  })

  it('leaves an end that has come as it is, and refuses a link that was deactivated', async () => {
    const link = await make({ amount: '5.00', expires_at: '2099-12-31T22:59:00.000Z' })
    const end = '2001-12-31T22:59:00.000Z'
    await stores.db.collection(PAYMENT_LINKS).updateOne({ _id: link.id }, { $set: { expiresAt: new Date(end) } })
    const edited = await edit(link, { title: 'Past', amount: '5', expires_at: end })
    expect(edited).toMatchObject({ title: 'Past', expires_at: end })
    const ended = await ana.caller.paymentLinks.deactivate({ ...ana.at, opId: op(), id: link.id })
    const late = edit({ id: link.id, version: Date.parse(ended.updated_at) }, { amount: '6' })
    await expect(late).rejects.toThrow('This payment link was deactivated.')
  })

  it('is for people who may, of the workspace that has the link', async () => {
    const link = await make()
    const viewer = await adminCaller(stores, { role: 'viewer', workspaceId: ana.workspaceId })
    await expect(edit(link, { amount: '6' }, viewer)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const stranger = await adminCaller(stores)
    await expect(edit(link, { amount: '6' }, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await ana.deps.workspaces.update(ana.workspaceId, { status: 'restricted' })
    await expect(edit(link, { amount: '6' })).rejects.toMatchObject({ cause: { code: 'WORKSPACE_RESTRICTED' } })
    await ana.deps.workspaces.update(ana.workspaceId, { status: 'active' })
    expect(await seen(link.id)).toEqual(link)
  })
})
