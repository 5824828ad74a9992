import { expect, it } from 'vitest'
import { useBalanceStage } from '#test/support/balance-stage.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const { stage, clientOf, waitForEther, send, lying } = useBalanceStage(stores)

// Guarantee: whether a direct transfer succeeded is never assumed.
it('a block with a transfer whose receipt is missing is not passed, and the failure names it', async () => {
  await waitForEther()
  await send(7n, WATCHED.address)
  await send(5n)
  await stage.chain.mine()
  const height = await stage.height()
  const url = await lying(({ method }, truth) => (method === 'eth_getTransactionReceipt' ? { result: null } : truth))
  const client = clientOf([url])
  const watches = stage.source().createIndex()
  watches.add(WATCHED.matchKey)
  const scan = () => client.scan(height, height, watches)
  await expect(scan()).rejects.toMatchObject({ block: { height, method: 'eth_getTransactionReceipt' } })
  await expect(scan()).rejects.toMatchObject({
    name: 'BlockUnreadable',
    block: { height, hash: expect.stringMatching(/^0x/), reason: expect.stringContaining('no receipt') },
  })
})
