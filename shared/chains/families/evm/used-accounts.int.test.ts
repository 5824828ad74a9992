import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { useEvmStage } from '#test/support/evm-stage.ts'
import { type Lie, lieAbout } from '#test/support/lying-node.ts'

const account = () => randomBytes(20).toString('hex')
const [FUNDED, HOLDER, SENDER, CONTRACT] = [account(), account(), account(), account()] as const
const UNUSED = Array.from({ length: 30 }, account)

const stage = useEvmStage(async (chain) => {
  await chain.fund(`0x${FUNDED}`, 1n)
  await chain.pay({ asset: 'usdt_ethereum', to: `0x${HOLDER}`, amountBase: 1n })
  await chain.rpc('anvil_setNonce', [`0x${SENDER}`, '0x1'])
  await chain.rpc('anvil_setCode', [`0x${CONTRACT}`, '0x00'])
  await chain.mine()
})

const addresses = [...UNUSED, FUNDED, HOLDER, SENDER, CONTRACT].map((matchKey) => ({
  address: `0x${matchKey}`,
  matchKey,
}))

it('finds accounts by their coins, tokens, transactions and code', async () => {
  const used = await stage.client([stage.chain.url]).used?.(addresses)
  expect(used).toEqual(new Set([FUNDED, HOLDER, SENDER, CONTRACT]))
})

// Guarantee: an answer that is missing or of another form never makes an address count as unused.
it.each<[string, Lie]>([
  ['still syncs', lieAbout('eth_syncing', () => ({ currentBlock: '0x1', highestBlock: '0x9' }))],
  ['has no newest block', lieAbout('eth_getBlockByNumber', () => null)],
  ['gives no nonce', lieAbout('eth_getTransactionCount', () => null)],
  ['gives no code', (call, truth) => (/^eth_(call|getCode)$/.test(call.method) ? { result: '' } : truth)],
  ['gives no balance of a token', lieAbout('eth_call', () => '0x')],
])('concludes nothing from a node that %s', async (_what, lie) => {
  const client = stage.client([await stage.liar(lie)])
  await expect(client.used?.(addresses)).rejects.toMatchObject({ name: 'NodeUnreliable' })
})

it('asks the next node instead', async () => {
  const syncing = await stage.liar(lieAbout('eth_syncing', () => ({ currentBlock: '0x1' })))
  const used = await stage.client([syncing, stage.chain.url]).used?.(addresses)
  expect(used?.size).toBe(4)
})
