import { expect, it } from 'vitest'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { freshChain } from './worker-chain.ts'

const STRANGER = `0x${'c4'.repeat(20)}`
const HOUR_S = 3_600
const timeOf = (block: unknown) => Number((block as { readonly timestamp: string }).timestamp)

// Guarantee: what one test does to the worker's chain is not there in the next.
it('is put back to its first block, without money, transactions or a clock of the test before', async () => {
  const chain = await freshChain()
  const newest = () => chain.rpc('eth_getBlockByNumber', ['latest', false])
  await chain.fund(STRANGER, 7n)
  await chain.rpc('anvil_setCode', [STRANGER, '0x00'])
  await chain.rpc('evm_increaseTime', [HOUR_S])
  await chain.mine(3)
  const moved = timeOf(await newest())
  await chain.pay({ asset: 'usdt_ethereum', to: STRANGER, amountBase: 5n })
  expect(await chain.rpc('txpool_status')).not.toEqual({ pending: '0x0', queued: '0x0' })

  const again = await freshChain()
  expect(again.url).toBe(chain.url)
  expect(await again.rpc('eth_blockNumber')).toBe('0x0')
  expect(await again.rpc('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
  expect(await again.rpc('eth_getBalance', [STRANGER, 'latest'])).toBe('0x0')
  expect(await again.rpc('eth_getCode', [STRANGER, 'latest'])).toBe('0x')
  expect(String(await again.rpc('eth_getCode', [ASSETS.usdt_ethereum.contract, 'latest'])).length).toBeGreaterThan(10)
  await again.mine()
  expect(timeOf(await newest())).toBeLessThan(moved)
})
