import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { useStores } from '#test/support/stores.ts'
import { type CheckoutStage, openCheckout } from './checkout.fixture.ts'

const stores = useStores()
let stage: CheckoutStage
beforeAll(async () => {
  stage = await openCheckout(stores)
})
// The engine derives two dozen addresses at a time.
beforeEach(() => stage.engine.watchEverything())
afterAll(() => stage.close())

let payers = 0
const payer = () => {
  payers += 1
  return `203.0.113.${payers}`
}

// Guarantee: what is refused costs its sender as much as what succeeds.
it('uses up the limit of its own address with posts that are refused', async () => {
  const from = payer()
  const post = () => stage.post(`/api/i/${randomUUID()}/price`, { wrong: true }, from)
  const statuses = (await Promise.all(Array.from({ length: 400 }, post))).map(({ status }) => status)
  expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(240)
  expect(statuses).toContain(429)
  expect((await stage.post(`/api/i/${randomUUID()}/price`, { wrong: true }, payer())).status).toBe(400)
})

// Guarantee: a slow node, or somebody who asks about slow things, makes nobody else wait.
it('blocks no other payer with questions that take long', async () => {
  const invoice = await stage.engine.open({ asset: 'usdt_ethereum' })
  const path = `/api/i/${invoice.terms.id}/question`
  const body = { txHash: `0x${'ab'.repeat(32)}` }
  const { findById } = stage.deps.invoices
  let isHanging = true
  let hanging = 0
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  Object.assign(stage.deps.invoices, {
    findById: async (id: string) => {
      if (isHanging) {
        hanging += 1
        await released
      }
      return findById(id)
    },
  })
  const attackers = [payer(), payer(), payer()]
  const slow = attackers.flatMap((from) => [1, 2].map(() => stage.post(path, body, from)))
  await vi.waitFor(() => expect(hanging).toBe(6), { timeout: 20_000 })
  for (const from of attackers) expect((await stage.post(path, body, from)).status).toBe(429)
  isHanging = false
  expect((await stage.post(path, body, payer())).status).toBe(200)
  release()
  for (const { status } of await Promise.all(slow)) expect(status).toBe(200)
  Object.assign(stage.deps.invoices, { findById })
})
