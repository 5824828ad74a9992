import { describe, expect, it } from 'vitest'
import type { Product } from '#shared/ports/products.ts'
import { useStores } from '#test/support/stores.ts'
import { PRODUCTS } from './product-model.ts'
import { createProductRepository } from './product-repository.ts'

const stores = useStores()
const repository = () => createProductRepository(stores.db)

function sample(overrides: Partial<Product> = {}): Product {
  return {
    id: stores.runtime.random.uuid(),
    workspaceId: 'ws-1',
    mode: 'test',
    name: 'Coffee',
    description: null,
    price: { minor: 999_999_999_999_99n, currency: 'USD' },
    sku: null,
    active: true,
    createdAt: 1_000,
    updatedAt: 1_000,
    ...overrides,
  }
}

describe('products', () => {
  it('come back as they were stored, in the shape that the schema describes', async () => {
    const product = sample({ sku: 'C-1', description: 'Black' })
    expect(await repository().insert(product)).toEqual({ outcome: 'stored', product })
    expect(await repository().findInWorkspace('ws-1', 'test', product.id)).toEqual(product)
    const stored = await stores.db.collection(PRODUCTS).findOne({ _id: product.id })
    expect(PRODUCTS.schema.strict().safeParse(stored).error).toBeUndefined()
  })

  it('are invisible to other workspaces and to the other mode', async () => {
    const { id } = sample()
    await repository().insert(sample({ id }))
    expect(await repository().findInWorkspace('ws-2', 'test', id)).toBeNull()
    expect(await repository().findInWorkspace('ws-1', 'live', id)).toBeNull()
    expect(await repository().findInWorkspace('ws-1', 'test', 'unknown')).toBeNull()
  })

  // Guarantee: of many products with one sku exactly one gets in, however many arrive at once.
  it('share no sku within a workspace and mode', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () => repository().insert(sample({ sku: 'RACE', workspaceId: 'ws-race' }))),
    )
    expect(results.filter(({ outcome }) => outcome === 'stored')).toHaveLength(1)
    expect(results.filter(({ outcome }) => outcome === 'sku_taken')).toHaveLength(19)
    for (const elsewhere of [{ workspaceId: 'ws-race-2' }, { mode: 'live' as const }, { sku: 'race' }]) {
      const other = sample({ sku: 'RACE', workspaceId: 'ws-race', ...elsewhere })
      expect(await repository().insert(other)).toMatchObject({ outcome: 'stored' })
    }
  })

  it('need no sku', async () => {
    for (let nth = 0; nth < 3; nth += 1) {
      expect(await repository().insert(sample())).toMatchObject({ outcome: 'stored' })
    }
  })

  // Guarantee: a retry finds the product of the first run instead of being told that its own sku is taken.
  it.each([{ sku: 'SAME' }, { sku: null }])('are stored once under one id: %j', async ({ sku }) => {
    const product = sample({ sku })
    const again = { ...product, name: 'Tea', createdAt: 2_000 }
    await repository().insert(product)
    const results = await Promise.all(Array.from({ length: 5 }, () => repository().insert(again)))
    for (const result of results) expect(result).toEqual({ outcome: 'stored', product })
  })

  it('are listed newest first, page by page', async () => {
    const workspaceId = 'ws-list'
    const made: Product[] = []
    for (let nth = 0; nth < 5; nth += 1) {
      const product = sample({ workspaceId })
      await repository().insert(product)
      made.unshift(product)
    }
    const query = { workspaceId, mode: 'test' as const, limit: 3 }
    expect(await repository().list({ ...query, beforeId: null })).toEqual(made.slice(0, 3))
    expect(await repository().list({ ...query, beforeId: made[2]?.id ?? '' })).toEqual(made.slice(3))
    expect(await repository().list({ ...query, mode: 'live', beforeId: null })).toEqual([])
  })
})
