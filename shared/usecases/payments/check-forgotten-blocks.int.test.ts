import { beforeAll, expect, it } from 'vitest'
import type { Payment } from '#shared/ports/payments.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { blockWith, type Engine, openEngine, paymentMethodOf } from '#test/support/engine.ts'
import { useStores } from '#test/support/stores.ts'
import { confirmPayments, recordBlockTransfers } from './record-payments.ts'

const stores = useStores()
let engine: Engine
let next = 1_000

beforeAll(async () => {
  engine = await openEngine(stores)
})

/** A payment of an invoice in its own block that the cursor, 5,000 blocks on, no longer remembers. */
async function forgottenPayment(opened = engine.open({ asset: 'usdt_ethereum' })) {
  const invoice = await opened
  next += 100
  const transfer = { key: `forgotten-${next}`, amountBase: 1_000_000n }
  const block = blockWith(next, engine.deps.clock.now(), paymentMethodOf(invoice), [transfer])
  await recordBlockTransfers(engine.deps, { mode: 'test', network: 'ethereum', blocks: [block], epoch: 1 })
  return { invoiceId: invoice.terms.id, block }
}

/** Confirms as a scanner does whose node answers so. */
const confirm = (blockAt: (height: number) => Promise<{ height: number; hash: string; time: number } | null>) =>
  confirmPayments(engine.deps, {
    ...{ mode: 'test', network: 'ethereum', epoch: 1, height: next + 5_000, finalizedHeight: next + 4_900 },
    chain: { blockAt: blockAt as never, window: new Map([[next + 5_000, 'newest']]) },
  })
const stateOf = async (invoiceId: string): Promise<readonly Payment['state'][]> =>
  (await engine.deps.payments.listByInvoice(invoiceId)).map(({ state }) => state)

// Guarantee: a payment of an abandoned block is never confirmed, however late a paused scanner stored it.
it('takes back a payment whose block the chain no longer has, and wakes its invoice', async () => {
  const { invoiceId } = await forgottenPayment()
  await confirm(async (height) => ({ height, hash: 'the branch that won', time: 0 }))
  expect(await stateOf(invoiceId)).toEqual(['orphaned'])
  expect(engine.wakeUps).toContain(`invoice-transitions ${invoiceId}`)
})

it('confirms a payment whose block the node still shows', async () => {
  const { invoiceId, block } = await forgottenPayment()
  await confirm(async (height) => ({ height, hash: block.hash, time: 0 }))
  expect(await stateOf(invoiceId)).toEqual(['confirmed'])
})

// Guarantee: an unclear answer of a node is pending, never success.
it.each([
  ['has no block there', () => Promise.resolve(null)],
  ['does not answer', () => Promise.reject(new NodeUnreliable('timeout'))],
])('waits while the node %s', async (_name, blockAt) => {
  const { invoiceId, block } = await forgottenPayment()
  await confirm(blockAt)
  expect(await stateOf(invoiceId)).toEqual(['detected'])
  await confirm(async (height) => ({ height, hash: block.hash, time: 0 }))
  expect(await stateOf(invoiceId)).toEqual(['confirmed'])
})

// Guarantee: what no node can say any more costs a bounded number of questions, and holds up no other payment.
it('asks about a payment that waits for more than an hour every five minutes only, and about a new one at once', async () => {
  const doubts = new Map<string, number>()
  const invoice = await engine.open({ asset: 'usdt_ethereum' })
  const old = await forgottenPayment()
  const heights: number[] = []
  const poll = () =>
    confirmPayments(engine.deps, {
      ...{ mode: 'test', network: 'ethereum', epoch: 1, height: next + 5_000, finalizedHeight: next + 4_900, doubts },
      chain: {
        blockAt: async (height) => {
          heights.push(height)
          return height === old.block.height ? null : { height, hash: `hash${height}`, parentHash: '', time: 0 }
        },
        window: new Map(),
      },
    })
  for (let hour = 0; hour < 2; hour += 1) {
    heights.length = 0
    for (let second = 0; second < 3_600; second += 5) {
      engine.advance(5_000)
      await poll()
    }
  }
  expect(heights.length).toBe(12)
  const fresh = await forgottenPayment(Promise.resolve(invoice))
  await poll()
  expect(await stateOf(fresh.invoiceId)).toEqual(['confirmed'])
  expect(await stateOf(old.invoiceId)).toEqual(['detected'])
})
