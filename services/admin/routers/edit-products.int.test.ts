import { beforeAll, describe, expect, it } from 'vitest'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let ana: AdminCaller
beforeAll(async () => {
  ana = await adminCaller(stores, { role: 'support', email: 'ana@example.com' })
})

const op = () => ana.deps.random.uuid()
const make = () => {
  const product = { name: 'Cup', price: '5.00', currency: 'USD', sku: `C-${op()}`, description: 'Blue' }
  return ana.caller.products.create({ ...ana.at, opId: op(), product })
}
const stored = async (wanted: string) =>
  (await ana.caller.products.list(ana.at)).items.find(({ id }) => id === wanted) ?? null
type Fields = { name?: string; price?: string; description?: string }
const edit = (seen: { id: string; updated_at: string }, fields: Fields, by = ana) =>
  by.caller.products.update({
    ...{ ...by.at, opId: op(), id: seen.id, version: Date.parse(seen.updated_at) },
    product: { name: 'Cup', price: '5', ...fields },
  })

describe('an edit of a product', () => {
  it('replaces name, description and price, and leaves links as they were copied', async () => {
    const product = await make()
    const link = await ana.caller.paymentLinks.create({ ...ana.at, opId: op(), link: { product_id: product.id } })
    const edited = await edit(product, { name: 'Mug', price: '6.5' })
    expect(edited).toMatchObject({ name: 'Mug', price: '6.50', description: null, sku: product.sku, currency: 'USD' })
    expect(await stored(product.id)).toEqual(edited)
    const copied = await ana.caller.paymentLinks.get({ ...ana.at, id: link.id })
    expect(copied).toMatchObject({ title: 'Cup', amount: '5.00', description: 'Blue' })
    const rows = await ana.deps.money.audits.listBySubject(product.id)
    expect(rows.map(({ action }) => action)).toEqual(['product.created', 'product.updated'])
  })

  // Guarantee: of two operators who saw the same price one sets the next, and the other reads who that was.
  it('is refused to everyone but the first of those who saw the same version', async () => {
    const product = await make()
    const ben = await adminCaller(stores, { role: 'support', email: 'ben@example.com', workspaceId: ana.workspaceId })
    const results = await Promise.allSettled([edit(product, { price: '7' }), edit(product, { price: '8' }, ben)])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const [price, who] = results[0]?.status === 'fulfilled' ? ['7.00', 'ana'] : ['8.00', 'ben']
    expect((await stored(product.id))?.price).toBe(price)
    const late = edit(product, { price: '9' })
    await expect(late).rejects.toMatchObject({ code: 'CONFLICT', cause: { code: 'INVALID_STATE' } })
    await expect(late).rejects.toThrow(`${who}@example.com changed this product`)
  })

  it('says which field is wrong, is for people who may, and changes nothing otherwise', async () => {
    const product = await make()
    for (const wrong of [{ price: '0' }, { price: '1,5' }, { price: '1.234' }, { name: ' ' }])
      await expect(edit(product, wrong)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const viewer = await adminCaller(stores, { role: 'viewer', workspaceId: ana.workspaceId })
    await expect(edit(product, { price: '1' }, viewer)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const stranger = await adminCaller(stores)
    await expect(edit(product, { price: '1' }, stranger)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await stored(product.id)).toEqual(product)
  })
})
