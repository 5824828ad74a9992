import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { type AssetFunds, FUNDS_CALLS_MAX, FUNDS_PAGE, type FundsReading } from '#shared/ports/funds.ts'
import type { Metrics } from '#shared/ports/runtime.ts'
import { useEvmStage } from '#test/support/evm-stage.ts'
import { type Lie, lieAbout } from '#test/support/lying-node.ts'

const account = () => randomBytes(20).toString('hex')
const [RICH, HOLDER, BOTH, EMPTY] = [account(), account(), account(), account()] as const
const COINS = 1_234_567_890_123_456_789n

const stage = useEvmStage(async (chain) => {
  await chain.fund(`0x${RICH}`, COINS)
  await chain.fund(`0x${BOTH}`, COINS)
  await chain.pay({ asset: 'usdt_ethereum', to: `0x${HOLDER}`, amountBase: 2_500_000n })
  await chain.pay({ asset: 'usdt_ethereum', to: `0x${BOTH}`, amountBase: 7n })
  await chain.mine()
})
const addressesOf = (keys: readonly string[]) => keys.map((matchKey) => ({ address: `0x${matchKey}`, matchKey }))
const LIMITS = { timeoutMs: 10_000 }

async function read(urls: readonly string[], keys: readonly string[] = [RICH, HOLDER, BOTH, EMPTY]) {
  const reading = await stage.client(urls).funds?.read(addressesOf(keys), LIMITS)
  if (reading === undefined) throw new Error('no reader')
  return reading
}
function at(reading: FundsReading, key: string, asset: AssetFunds['asset']): AssetFunds {
  const found = reading.funds.get(key)?.find((one) => one.asset === asset)
  if (found === undefined) throw new Error(`nothing read of ${asset}`)
  return found
}

it('shows what the chain holds, and what moving it costs at its gas price', async () => {
  const reading = await read([stage.chain.url])
  const price = BigInt((await stage.chain.rpc('eth_gasPrice', [])) as string)
  const move = { from: `0x${RICH}`, to: `0x${EMPTY}`, value: '0x1' }
  const gas = BigInt((await stage.chain.rpc('eth_estimateGas', [move])) as string)
  expect(at(reading, RICH, 'eth_ethereum')).toEqual({
    asset: 'eth_ethereum',
    balanceBase: COINS,
    feeBase: price * gas,
    topUpBase: 0n,
  })
  expect(at(reading, EMPTY, 'eth_ethereum')).toMatchObject({ balanceBase: 0n, feeBase: null })
  expect(at(reading, EMPTY, 'usdt_ethereum')).toMatchObject({ balanceBase: 0n, feeBase: null })
  expect(reading.facts).toContainEqual({ name: 'gas_price', value: price, unit: 'wei' })

  // A holder without coins needs some first, by its own transfer.
  const [poor, able] = [at(reading, HOLDER, 'usdt_ethereum'), at(reading, BOTH, 'usdt_ethereum')]
  expect([poor.balanceBase, able.balanceBase]).toEqual([2_500_000n, 7n])
  expect(able.topUpBase).toBe(0n)
  expect(poor.topUpBase).toBe(price * gas)
  expect(poor.feeBase).toBe((able.feeBase ?? 0n) + price * gas)
  // More than a plain transfer, and no more than the usual upper figure for a token.
  expect((able.feeBase ?? 0n) / price).toBeGreaterThan(21_000n)
  expect((able.feeBase ?? 0n) / price).toBeLessThan(100_000n)
})

// Guarantee: an answer that is missing or of another form is unknown, and never 0.
it.each<[string, Lie]>([
  ['gives nothing', lieAbout('eth_call', (answer: string) => (answer.length === 66 ? '0x' : answer))],
  ['gives a shorter number', lieAbout('eth_call', (answer: string) => (answer.length === 66 ? '0x00' : answer))],
])('a token balance of a node that %s is unknown, and the coins are still shown', async (_what, lie) => {
  const reading = await read([await stage.liar(lie)])
  expect(at(reading, HOLDER, 'usdt_ethereum')).toMatchObject({ balanceBase: null, feeBase: null })
  expect(at(reading, RICH, 'eth_ethereum').balanceBase).toBe(COINS)
})
it.each<[string, Lie]>([
  ['still syncs', lieAbout('eth_syncing', () => ({ currentBlock: '0x1', highestBlock: '0x9' }))],
  ['has no newest block', lieAbout('eth_getBlockByNumber', () => null)],
  ['is on another chain', lieAbout('eth_chainId', () => '0x5')],
])('nothing is concluded from a node that %s, and the next one is asked', async (_what, lie) => {
  await expect(read([await stage.liar(lie)])).rejects.toThrow()
  const reading = await read([await stage.liar(lie), stage.chain.url])
  expect(at(reading, RICH, 'eth_ethereum').balanceBase).toBe(COINS)
})
it.each<[string, Lie]>([
  ['no gas price', lieAbout('eth_gasPrice', () => null)],
  ['no price that is a number', lieAbout('eth_gasPrice', () => '12')],
])('a node that gives %s leaves the cost unknown, and the balance known', async (_what, lie) => {
  const reading = await read([await stage.liar(lie)])
  expect(at(reading, RICH, 'eth_ethereum')).toMatchObject({ balanceBase: COINS, feeBase: null })
  expect(at(reading, BOTH, 'usdt_ethereum')).toMatchObject({ balanceBase: 7n, feeBase: null })
})

// Guarantee: a cost of which a part is unknown is unknown, and never the other part alone.
it('knows no cost of a token whose address needs coins first while nobody knows what sending them costs', async () => {
  const probed = `0x${'1'.repeat(40)}`
  const lie: Lie = (call, truth) => {
    const state = call.params[0] as { readonly from?: string } | undefined
    const isProbe = call.method === 'eth_estimateGas' && state?.from === probed
    return isProbe ? { error: { code: -32_000, message: 'out of order' } } : truth
  }
  const reading = await read([await stage.liar(lie)], [HOLDER, BOTH])
  const [poor, able] = [at(reading, HOLDER, 'usdt_ethereum'), at(reading, BOTH, 'usdt_ethereum')]
  expect(poor).toEqual({ asset: 'usdt_ethereum', balanceBase: 2_500_000n, feeBase: null, topUpBase: 0n })
  expect(able.balanceBase).toBe(7n)
  expect(able.feeBase).toBeGreaterThan(0n)
})

// Guarantee: the price of gas and its amounts are the node's, so that another schedule of costs (EIP-2780, 8037) needs no change here.
it('has no cost of its own', async () => {
  const tripled: Lie = lieAbout('eth_estimateGas', (answer: string) => `0x${(3n * BigInt(answer)).toString(16)}`)
  const [usual, changed] = await Promise.all(
    [stage.chain.url, await stage.liar(tripled)].map((url) => stage.client([url]).funds?.fees()),
  )
  const gasOf = (fees: typeof usual, asset: 'eth_ethereum' | 'usdt_ethereum') =>
    Number((fees?.perAsset.get(asset) ?? 0n) / (fees?.facts.find(({ name }) => name === 'gas_price')?.value ?? 1n))
  for (const asset of ['eth_ethereum', 'usdt_ethereum'] as const)
    expect(gasOf(changed, asset) / gasOf(usual, asset)).toBeCloseTo(3, 2)
})

// Guarantee: one reading stays within the stated number of calls, whatever is asked.
it('counts its calls', async () => {
  let calls = 0
  const metrics: Metrics = {
    count: (name) => {
      if (name === 'scanner_rpc_total') calls += 1
    },
    gauge: () => {},
    observe: () => {},
  }
  const token = (asset: 'usdt_ethereum' | 'usdc_ethereum') => {
    const contract = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
    return { asset, contract, decimals: 6 }
  }
  const client = stage.client([stage.chain.url], { metrics, tokens: [token('usdt_ethereum'), token('usdc_ethereum')] })
  const keys = Array.from({ length: FUNDS_PAGE }, account)
  await client.funds?.read(addressesOf(keys), LIMITS)
  expect(calls).toBeGreaterThan(0)
  expect(calls).toBeLessThanOrEqual(FUNDS_CALLS_MAX)
  expect(() => client.funds?.read(addressesOf([...keys, EMPTY]), LIMITS)).toThrow(RangeError)
})

it('knows costs without any address, for advice', async () => {
  const fees = await stage.client([stage.chain.url]).funds?.fees()
  const price = fees?.facts.find(({ name }) => name === 'gas_price')?.value ?? 0n
  expect((fees?.perAsset.get('eth_ethereum') ?? 0n) / price).toBe(21_000n)
  // Enough for the most expensive transfer, to an address without any, by the node's own figures, and not much more.
  const { feeBase } = at(await read([stage.chain.url]), BOTH, 'usdt_ethereum')
  const advised = fees?.perAsset.get('usdt_ethereum') ?? 0n
  expect(advised).toBeGreaterThanOrEqual(feeBase ?? 0n)
  expect(advised).toBeLessThan(2n * (feeBase ?? 0n))
})

// Guarantee: where a network pays for its base chain, a cost without that part is not shown as the whole.
it('adds what the base chain costs, and knows no cost without it', async () => {
  const oracle = '0x420000000000000000000000000000000000000F'
  const chain = { ...CHAINS.base, chainIds: { live: 8_453, test: 31_337 } }
  const change = { chain, tokens: [], nativeAsset: 'eth_base' as const }
  const cost = async () => {
    const fees = await stage.client([stage.chain.url], change).funds?.fees()
    return { coin: fees?.perAsset.get('eth_base'), price: fees?.facts[0]?.value ?? 0n }
  }
  expect((await cost()).coin).toBeNull()
  // PUSH2 0x1234, MSTORE at 0, RETURN 32 bytes.
  await stage.chain.rpc('anvil_setCode', [oracle, '0x61123460005260206000f3'])
  const { coin, price } = await cost()
  expect(coin).toBe(price * 21_000n + 0x1234n)
})
