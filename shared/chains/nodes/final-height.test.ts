import { expect, it } from 'vitest'
import { type FakePoolNode, useFakeNodes } from '#test/support/fake-nodes.ts'
import { RpcFailure } from './rpc-failure.ts'

const { fake, poolOf, clock } = useFakeNodes()
const read = async (node: FakePoolNode) => (node.head < 0 ? null : node.head)

/** What is agreed on when nodes claim these heights, the first one in use; `s` is silent, `w` on another chain, −1 says nothing. */
async function agreedOf(...claims: readonly (number | 's' | 'w')[]) {
  const nodes = claims.map((claim, index) =>
    fake(`n${index}`, typeof claim === 'number' ? { head: claim } : { chain: claim === 's' ? 'silent' : 'other' }),
  )
  const pool = poolOf(...nodes)
  await pool.use((node) => pool.final.update(node, read))
  return pool.final.agreed()
}

// Guarantee: a node that claims too much final neither halts an honest reorganisation nor confirms early, where it is not alone.
it.each([
  [[90], 90],
  [[999, 90], 90],
  [[90, 999], 90],
  [[90, 999, 91], 91],
  [[999, 90, 80], 90],
  [[999, 's'], null],
  [[90, 'w'], 90],
  [[-1, 999], null],
  [[-1], null],
] as const)('nodes that claim %j: %s', async (claims, expected) => {
  expect(await agreedOf(...claims)).toBe(expected)
})

it('follows what the others say, asked now and then, and what a silent one said last', async () => {
  const [a, b] = [fake('a', { head: 90 }), fake('b', { head: 80 })]
  const pool = poolOf(a, b)
  const look = async () => {
    await pool.use((node) => pool.final.update(node, read))
    pool.final.agreed()
    await pool.final.settled()
    return pool.final.agreed()
  }
  expect(await look()).toBe(80)
  b.head = 89
  expect(await look()).toBe(80)
  clock.time += 5_000
  expect(await look()).toBe(89)
  b.chain = 'silent'
  a.head = 100
  clock.time += 5_000
  expect(await look()).toBe(89)
})

it('fails when the node in use does', async () => {
  const pool = poolOf(fake('a'), fake('b'))
  const failing = () => Promise.reject(new RpcFailure('retry', 'no'))
  await expect(pool.use((node) => pool.final.update(node, failing))).rejects.toMatchObject({ name: 'NodeUnreliable' })
})
