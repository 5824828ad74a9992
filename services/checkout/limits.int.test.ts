import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMemoryTokenBuckets } from '#shared/queues/token-bucket.ts'
import { deepTest } from '#test/support/depth.ts'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout, type Reply } from './checkout.fixture.ts'

const stores = useStores()
const SECOND = 1_000
const BOB = '203.0.113.7'
let stage: CheckoutStage
/** Time of the buckets: it stands still unless a test moves it, so that figures are exact on a slow machine too. */
let now: number
const open = async (trustedProxies = 1) => {
  now = 1_000_000
  stage = await openCheckout(stores, { trustedProxies, buckets: createMemoryTokenBuckets(() => now) })
}
afterEach(() => stage.close())

const refusedPost = (from = BOB) => stage.post(`/api/i/${randomUUID()}/price`, { wrong: true }, from)
const select = (id: string, asset: string, from = BOB, actionId: string = randomUUID()) =>
  stage.post(`/api/i/${id}/asset`, { asset, actionId }, from)
/** Sends one after the other until one is refused for its number; returns how many went through. */
async function untilLimited(send: () => Promise<Reply>): Promise<number> {
  for (let passed = 0; ; passed += 1) if ((await send()).status === 429) return passed
}
const freshSelection = async (from = BOB) => {
  await stage.engine.watchEverything()
  return await select((await stage.engine.open()).terms.id, 'usdt_ethereum', from)
}

describe('one address', () => {
  beforeEach(() => open())

  deepTest('may post 240 times at once and four times a second after that, refused posts included', async () => {
    expect(await untilLimited(() => refusedPost())).toBe(240)
    now += SECOND
    expect(await untilLimited(() => refusedPost())).toBe(4)
    expect((await stage.post(`/api/l/${randomUUID()}/invoice`, {}, BOB)).status).toBe(429)
    expect((await refusedPost('203.0.113.8')).status).toBe(400)
  })

  deepTest(
    'gets 20 invoices from links at once and four a minute after that, and as many selections of a coin besides',
    async () => {
      const link = await stage.link({ kind: 'fixed', minor: 700n })
      const pay = () => stage.post(`/api/l/${link}/invoice`, { actionId: randomUUID() }, BOB)
      expect(await untilLimited(pay)).toBe(20)
      expect(await untilLimited(freshSelection)).toBe(20)
      now += 60 * SECOND
      expect(await untilLimited(pay)).toBe(4)
      expect(await untilLimited(freshSelection)).toBe(4)
      // What was made stays within reach: a repetition is no new invoice.
      now += 15 * SECOND
      const actionId = randomUUID()
      const again = () => stage.post(`/api/l/${link}/invoice`, { actionId }, BOB)
      const first = await again()
      for (let times = 0; times < 5; times += 1) expect((await again()).body).toEqual(first.body)
    },
  )

  deepTest(
    'spends nothing on a selection that is shown again, repeated or refused, nor on a price that still holds',
    async () => {
      const shown = (await stage.engine.open()).terms.id
      const actionId = randomUUID()
      const first = await select(shown, 'usdt_ethereum', BOB, actionId)
      expect(first.status).toBe(200)
      const over = (await stage.engine.open({ asset: 'usdt_ethereum' })).terms.id
      for (let times = 0; times < 30; times += 1) {
        expect((await select(shown, 'usdt_ethereum', BOB, actionId)).body.view).toEqual(first.body.view)
        expect((await select(shown, 'usdt_ethereum')).body.view).toEqual(first.body.view)
        expect((await stage.post(`/api/i/${shown}/price`, { actionId: randomUUID() }, BOB)).status).toBe(200)
        expect((await select(randomUUID(), 'usdt_ethereum')).status).toBe(404)
      }
      stage.engine.advance(21 * 60 * SECOND)
      await stage.engine.publishRates()
      for (let times = 0; times < 30; times += 1) expect((await select(over, 'usdc_ethereum')).status).toBe(409)
      expect(await untilLimited(freshSelection)).toBe(19)
    },
  )

  deepTest('spends one of its selections on a new price', async () => {
    const ids = [(await stage.engine.open()).terms.id, (await stage.engine.open()).terms.id]
    for (const id of ids) expect((await select(id, 'usdt_ethereum', '203.0.113.9')).status).toBe(200)
    stage.engine.advance(15 * 60 * SECOND)
    await stage.engine.publishRates()
    for (const id of ids) {
      const actionId = randomUUID()
      const renewed = await stage.post(`/api/i/${id}/price`, { actionId }, BOB)
      expect([renewed.status, renewed.body.view.version]).toEqual([200, 3])
      expect((await stage.post(`/api/i/${id}/price`, { actionId }, BOB)).body.view).toEqual(renewed.body.view)
    }
    expect(await untilLimited(freshSelection)).toBe(18)
  })

  it('is a network of IPv6: its addresses share one limit, and the next network has its own', async () => {
    const host = (part: number) => `2001:db8:0:7::${part.toString(16)}`
    let part = 0
    const post = () => {
      part += 1
      return refusedPost(host(part))
    }
    expect(await untilLimited(post)).toBe(240)
    expect((await refusedPost('2001:db8:0:7:ffff:ffff:ffff:ffff')).status).toBe(429)
    expect((await refusedPost('2001:db8:0:8::1')).status).toBe(400)
  })
})

// Guarantee: nobody gets a new limit by writing another address into a header.
it('is the address of the connection while no proxy is trusted, whatever a header says', async () => {
  await open(0)
  let part = 0
  const post = () => {
    part += 1
    return refusedPost(`203.0.113.${part % 250}`)
  }
  expect(await untilLimited(post)).toBe(240)
})
