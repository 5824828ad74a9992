import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApi, type TestApi } from '#test/support/api.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { SHOPS, type Shop, startShop } from './languages.ts'
import { openShopApi, playSequence, randomFrom, type Step } from './sequence-stage.ts'

const stores = useStores()
let api: TestApi
let shopApi: Awaited<ReturnType<typeof openShopApi>>

beforeAll(async () => {
  api = await openApi(stores)
  shopApi = await openShopApi(api)
})
afterAll(async () => {
  await shopApi.close()
  await api.close()
})

/** Each step as often as it is here; deliveries in between most of all. */
const STEPS: readonly Step[] = [
  ...([
    'paid',
    'partial',
    'partial',
    'overpaid',
    'expired',
    'expired',
    'late',
    'late',
    'second',
    'unconfirmed',
  ] as const),
  ...(['confirm', 'checkout', 'checkout', 'card', 'withdraw', 'forge'] as const),
  ...(['deliver', 'deliver', 'deliver', 'deliver', 'deliver', 'deliver'] as const),
]

/** The mistakes that shops have made, then random sequences. */
const STORIES: readonly (readonly Step[])[] = [
  ['checkout', 'paid', 'deliver', 'second'],
  ['checkout', 'paid', 'overpaid'],
  ['checkout', 'partial', 'expired'],
  ['checkout', 'partial', 'expired', 'deliver', 'deliver', 'deliver', 'deliver', 'late'],
  ['checkout', 'expired', 'late'],
  ['checkout', 'card', 'late'],
  ['checkout', 'partial', 'card'],
  ['checkout', 'withdraw', 'late', 'late'],
  ['checkout', 'expired', 'checkout', 'paid', 'late'],
]
const random = randomFrom(20_261_129)
const RANDOM = Array.from({ length: 200 }, (): readonly Step[] => [
  'checkout',
  ...Array.from({ length: 3 + random(8) }, () => STEPS[random(STEPS.length)] ?? 'deliver'),
])
const SEQUENCES = [...STORIES, ...RANDOM].map((steps, index) => ({ index, steps, name: steps.join(' ') }))

// Guarantee: whatever a payer, the chain and the customer do, a shop ships exactly once when it was paid, otherwise never, and every base
// unit that it may not keep is on its list of money to return.
describe.each(SHOPS)('the sample shop in $name', (language) => {
  let shop: Shop
  beforeAll(async () => {
    shop = await startShop(language, shopApi.settings)
  })
  afterAll(() => shop.stop())

  it.each(sampleOf(SEQUENCES, 14))('#$index: $name', async ({ index, steps }) => {
    const { order, expected } = await playSequence(api, shop, `${language.name}-${index}`, steps, index)
    expect({ shipments: order.shipments, returns: order.returns }).toEqual(expected)
  })
})
