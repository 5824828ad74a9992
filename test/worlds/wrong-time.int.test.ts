import { expect, it, vi } from 'vitest'
import { createChainClient } from '#shared/chains/create-chain-client.ts'
import { type Lie, startLyingNode } from '#test/support/lying-node.ts'
import { useStores } from '#test/support/stores.ts'
import { briskPace } from '#test/support/thrifty-pace.ts'
import { PATIENCE, useStoryStage } from './story-stage.ts'

const stores = useStores()
const story = useStoryStage(stores)
const DAY_S = 86_400

// Guarantee: one wrong time of a provider does not make its later, right answers wrong.
it('forgets a time that is a day ahead', async () => {
  await story.open('pending', 'usdt_ethereum')
  story.attend({ openMs: 20, watchedMs: 20 })
  await story.untilHead()
  const looks = () => story.node.calls.get('eth_call') ?? 0
  const after = async (count: number) => {
    const from = looks()
    await vi.waitFor(() => expect(looks()).toBeGreaterThan(from + count), PATIENCE)
  }
  await after(10)
  story.node.runAhead(DAY_S, 2)
  await after(20)
  const heights = story.node.calls.get('eth_getBlockByNumber') ?? 0
  for (let count = 0; count < 20; count += 1) {
    await after(1)
    expect((await story.stage.cursor())?.trouble ?? null).toBeNull()
  }
  // Nothing happens: each look is one question.
  expect((story.node.calls.get('eth_getBlockByNumber') ?? 0) - heights).toBeLessThan(20)
})

/** Gives the block of a height, and balances there, a time that is three days ahead. */
function aheadAt(height: () => number): Lie {
  const number = () => `0x${height().toString(16)}`
  return ({ method }, truth) => {
    const { result } = truth
    if (typeof result === 'object' && result !== null && 'timestamp' in result && 'number' in result) {
      const isIt = result.number === number()
      return isIt ? { result: { ...result, timestamp: hex(Number(result.timestamp) + 3 * DAY_S) } } : truth
    }
    if (method !== 'eth_call' || typeof result !== 'string' || result.length <= 66) return truth
    const place = BigInt(result.slice(0, 66))
    if (Number(place >> 64n) !== height()) return truth
    return { result: `0x${(place + BigInt(3 * DAY_S)).toString(16).padStart(64, '0')}${result.slice(66)}` }
  }
}

const hex = (value: number) => `0x${value.toString(16)}`

// Guarantee: a block that carries a time of days to come ends no invoice before its time: whoever pays after it is credited at once.
it('goes on looking for money behind a block of the future', async () => {
  let ahead = -1
  const node = await startLyingNode(
    story.stage.chain.url,
    aheadAt(() => ahead),
  )
  const networks = { live: {}, test: { ethereum: { rpcUrls: [node.url], chainId: 31_337 } } }
  const client = createChainClient(networks, 'test', 'ethereum', stores.runtime.metrics)
  if (client === null) throw new Error('no client')
  try {
    const account = await story.open('pending', 'usdt_ethereum')
    const expiresAt = new Date(Date.now() + DAY_S * 1_000)
    await stores.db.connection.collection('invoices').updateMany({}, { $set: { expiresAt } })
    const rare = { endedLookMs: 1e9, allLookMs: 1e9, weekLookMs: 1e9, monthLookMs: 1e9 }
    const source = story.stage.source({ client, finalityDepth: 3, thrifty: briskPace(rare) })
    ahead = (await story.stage.height()) + 1
    const scanner = story.stage.scan(source)
    await story.untilHead()
    for (const amounts of [[2_000_000n], [2_000_000n, 3_000_000n]]) {
      await story.payers.pay(account, 'usdt_ethereum', amounts.at(-1) ?? 0n)
      await story.stage.chain.mine()
      await vi.waitFor(async () => expect(await story.amounts()).toEqual(amounts), PATIENCE)
      const isPast = async () => {
        const cursor = await story.stage.cursor()
        expect(cursor?.height).toBeGreaterThanOrEqual(ahead)
        expect(cursor?.unproven ?? null).toBeNull()
      }
      await vi.waitFor(isPast, PATIENCE)
    }
    await scanner.stop()
  } finally {
    await client.close()
    await node.close()
  }
})
