import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Logger } from '#shared/ports/runtime.ts'
import { openApi, type TestApi } from '#test/support/api.ts'
import { useStores } from '#test/support/stores.ts'
import type { ApiDeps } from './api-deps.ts'

const PRODUCT = '01920a4d-77c2-7e18-a6f4-1d3b5c7e9f0a'

const stores = useStores()
let checked: TestApi
let unchecked: TestApi
const logged: string[] = []

/** Products that lost their name, and a list that fails with an error which lists do not have. */
function faulty({ products, logger }: ApiDeps): Pick<ApiDeps, 'products' | 'logger'> {
  const listening: Logger = {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    child: (fields) => logger.child(fields),
    error: (fields, message) => logged.push(`${message}: ${'error' in fields ? fields.error : ''}`),
  }
  return {
    logger: listening,
    products: {
      ...products,
      list: () => Promise.reject(new PaymeshError('INVALID_STATE')),
      findInWorkspace: () =>
        Promise.resolve({
          ...{ id: PRODUCT, workspaceId: 'w', mode: 'test', description: null, sku: null, active: true },
          ...{ name: undefined as never, price: { minor: 100n, currency: 'USD' }, createdAt: 0, updatedAt: 0 },
        }),
    },
  }
}

beforeAll(async () => {
  checked = await openApi(stores, { deps: faulty })
  unchecked = await openApi(stores, { deps: (wired) => ({ ...faulty(wired), checkAnswers: false }) })
})
afterAll(async () => {
  await checked.close()
  await unchecked.close()
})

describe('an endpoint that answers wrongly', () => {
  it('is caught with a resource that breaks its schema, and the log says where', async () => {
    logged.length = 0
    const { status, json } = await checked.call('GET', `/products/${PRODUCT}`)
    expect([status, json.error.code, json.data]).toEqual([500, 'INTERNAL_ERROR', null])
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain('the answer breaks its schema: data.name')
  })

  it('is caught with an error code that the operation does not declare', async () => {
    logged.length = 0
    const { status, json } = await checked.call('GET', '/products')
    expect([status, json.error.code]).toEqual([500, 'INTERNAL_ERROR'])
    expect(logged).toEqual(['request failed: Error: INVALID_STATE is not declared for this operation'])
  })

  it('gets through where answers are not checked, as in production', async () => {
    const { status, json } = await unchecked.call('GET', `/products/${PRODUCT}`)
    expect([status, json.data.id, json.data.name]).toEqual([200, PRODUCT, undefined])
    expect((await unchecked.call('GET', '/products')).status).toBe(409)
  })
})
