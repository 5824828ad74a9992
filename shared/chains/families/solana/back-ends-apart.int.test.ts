import { expect, it } from 'vitest'
import { chainOf, useFakeSolana } from '#test/support/fake-solana.ts'

const { startNode, clientOf } = useFakeSolana()
const SLOTS = Array.from({ length: 400 }, (_, index) => index + 10)
const ROUNDS = 100

/** Slots that the back ends behind one URL lag, in the order in which they answer. */
const LAGS = Array.from({ length: 2 * ROUNDS }, (_, index) => (index * 7 + (index % 5)) % 3)

// Guarantee: back ends of one provider that are slots apart are no fault of the node, whether finality follows 32 slots later, as under TowerBFT,
// or at once, as under Alpenglow; and finality never exceeds the head.
it.each([32, 0])('reads every head of a load balancer where finality is %i slots behind', async (cushion) => {
  const node = await startNode(SLOTS)
  node.blocks = chainOf(SLOTS)
  let head = 60
  let requests = 0
  node.lie = ({ method, params }) => {
    if (method !== 'getSlot') return null
    const [first] = params as unknown as [{ commitment?: string }]
    const lag = LAGS[requests++ % LAGS.length] ?? 0
    return { result: head - lag - (first?.commitment === 'finalized' ? cushion : 0) }
  }
  const client = clientOf(node)
  const heads = []
  for (let round = 0; round < ROUNDS; round += 1) {
    head += 1
    heads.push(await client.head())
  }
  for (const { height, finalizedHeight } of heads) {
    expect(finalizedHeight).not.toBeNull()
    expect(finalizedHeight ?? 0).toBeLessThanOrEqual(height)
  }
  expect(heads.at(-1)?.height).toBeGreaterThanOrEqual(head - 2)
})
