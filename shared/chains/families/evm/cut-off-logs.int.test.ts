import { expect, it } from 'vitest'
import { startLocalChain } from '#dev/local-chain/start-local-chain.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { createWatchIndex } from '#shared/chains/families/watch-index.ts'
import { lieAbout, startLyingNode } from '#test/support/lying-node.ts'
import { createEvmClient } from './client.ts'

const OURS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94'
const TOKEN = { asset: 'usdt_ethereum', contract: ASSETS.usdt_ethereum.contract, decimals: 6 } as const

// Guarantee: a list of logs that a node cuts off inside of a block is never taken for all of them.
it('takes a range of logs that ends inside of a block from another node', async () => {
  const watches = createWatchIndex()
  watches.add(OURS.slice(2).toLowerCase())
  const chain = await startLocalChain({ blockTimeMs: null })
  const cuts = lieAbout('eth_getLogs', (logs: readonly unknown[], [question]) =>
    'blockHash' in (question as object) ? logs : logs.slice(0, -1),
  )
  const liar = await startLyingNode(chain.url, cuts)
  const options = { chain: CHAINS.ethereum, mode: 'test', chainId: 31_337, nativeAsset: 'eth_ethereum' } as const
  const metrics = { count: () => {}, gauge: () => {}, observe: () => {} }
  const open = (...rpcUrls: readonly string[]) =>
    createEvmClient({ ...options, tokens: [TOKEN], logsCoins: false, metrics, rpcUrls })
  const [alone, withAnother] = [open(liar.url), open(liar.url, chain.url)]
  try {
    for (const amountBase of [1n, 2n]) await chain.pay({ asset: 'usdt_ethereum', to: OURS, amountBase })
    await chain.mine(3)
    await expect(alone.scan(0, 3, watches)).rejects.toMatchObject({ name: 'NodeUnreliable' })
    const blocks = await withAnother.scan(0, 3, watches)
    expect(blocks.flatMap(({ transfers }) => transfers.map(({ amountBase }) => amountBase))).toEqual([1n, 2n])
  } finally {
    await Promise.all([alone.close(), withAnother.close()])
    await liar.close()
    await chain.stop()
  }
})
