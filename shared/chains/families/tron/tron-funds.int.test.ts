import { expect, it } from 'vitest'
import type { AssetFunds } from '#shared/ports/funds.ts'
import { ADDRESS, HUGE, type Lie, OURS, unreliable, useTronNodes, when } from '#test/support/tron-nodes.ts'
import { formatAccount } from './address.ts'

const tron = useTronNodes()
const TOKEN_ONLY = 'e'.repeat(40)
const EMPTY = 'f0'.repeat(20)
const LIMITS = { timeoutMs: 10_000 }
const addresses = [OURS, TOKEN_ONLY, EMPTY].map((matchKey) => ({ address: formatAccount(matchKey), matchKey }))

async function read(url: string) {
  const reading = await tron.client([url]).funds?.read(addresses, LIMITS)
  const at = (key: string, asset: AssetFunds['asset']) => reading?.funds.get(key)?.find((one) => one.asset === asset)
  return { at, facts: reading?.facts, height: reading?.height }
}

it('shows TRX to the last digit and tokens, and costs at the chain’s prices', async () => {
  expect(ADDRESS).toBe(formatAccount(OURS))
  const { at, facts, height } = await read(tron.at.node.url)
  expect(height).toBe((await tron.client([tron.at.node.url]).head()).height)
  expect(height).toBeGreaterThan(0)
  expect(at(OURS, 'trx_tron')).toEqual({
    asset: 'trx_tron',
    balanceBase: HUGE + 5n,
    feeBase: 270_000n,
    topUpBase: 0n,
  })
  // 130,285 energy at 100 sun, 350 bytes at 1,000 sun.
  expect(at(OURS, 'usdt_tron')).toMatchObject({ balanceBase: 2_500_007n, feeBase: 13_378_500n, topUpBase: 0n })
  // Its account does not exist: coins for the fee create it, for 1.1 TRX.
  expect(at(TOKEN_ONLY, 'usdt_tron')).toEqual({
    asset: 'usdt_tron',
    balanceBase: 1n,
    feeBase: 13_378_500n + 270_000n + 1_100_000n,
    topUpBase: 1_370_000n,
  })
  expect(at(EMPTY, 'trx_tron')).toMatchObject({ balanceBase: 0n, feeBase: null })
  expect(facts).toEqual([
    { name: 'energy_price', value: 100n, unit: 'sun' },
    { name: 'bandwidth_price', value: 1_000n, unit: 'sun' },
  ])
})

const parameters = (chainParameter: unknown) => when('/getchainparameters', () => ({ chainParameter }))
// Guarantee: a price that the chain does not state is unknown, and so is every cost that depends on it.
it.each<[string, Lie]>([
  ['no parameters', parameters([])],
  ['an error in a good status', when('/getchainparameters', () => ({ Error: 'class java.lang.Exception' }))],
  ['other parameters', parameters([{ key: 'getMaintenanceTimeInterval', value: 1 }])],
  [
    'a negative price',
    parameters([
      { key: 'getTransactionFee', value: -1 },
      { key: 'getEnergyFee', value: 100 },
    ]),
  ],
])('knows no cost from %s', async (_what, lie) => {
  const { at } = await read(await tron.liar(lie))
  expect(at(OURS, 'trx_tron')).toMatchObject({ balanceBase: HUGE + 5n, feeBase: null })
  expect(at(OURS, 'usdt_tron')).toMatchObject({ balanceBase: 2_500_007n, feeBase: null })
})

// Guarantee: an unclear answer about an account is unknown, and never 0.
it.each<[string, Lie, AssetFunds['asset']]>([
  [
    'another account',
    when('/getaccount', (json, { address }) =>
      address === `41${OURS}` ? { ...json, address: `41${'1'.repeat(40)}` } : json,
    ),
    'trx_tron',
  ],
  [
    'an error',
    when('/getaccount', (json, { address }) => (address === `41${OURS}` ? { Error: 'class x' } : json)),
    'trx_tron',
  ],
  [
    'a negative balance',
    when('/getaccount', (json, { address }) => (address === `41${OURS}` ? { ...json, balance: -5 } : json)),
    'trx_tron',
  ],
  ['no word', when('/triggerconstantcontract', (json) => ({ ...json, constant_result: [] })), 'usdt_tron'],
  ['a refusal', when('/triggerconstantcontract', (json) => ({ ...json, result: { code: 'OTHER' } })), 'usdt_tron'],
])('an account of which a node gives %s is unknown', async (_what, lie, asset) => {
  const { at } = await read(await tron.liar(lie))
  expect(at(OURS, asset)).toMatchObject({ balanceBase: null, feeBase: null })
})

// Guarantee: a node that is behind states its own block, so that nothing it shows passes for the present.
it('states the block of a node that is behind', async () => {
  const first = await tron.client([tron.at.node.url]).head()
  const older = { number: first.height - 3, timestamp: 1, parentHash: '0'.repeat(64) }
  const blockID = older.number.toString(16).padStart(16, '0') + 'a'.repeat(48)
  const lie: Lie = ({ path, params }) => {
    if (path.endsWith('/getnowblock')) return { blockID, block_header: { raw_data: older } }
    return path.endsWith('/getaccount') && params['address'] === `41${OURS}` ? {} : undefined
  }
  const { at, height } = await read(await tron.liar(lie))
  expect(at(OURS, 'trx_tron')?.balanceBase).toBe(0n)
  expect(height).toBe(first.height - 3)
})
it.each<[string, Lie]>([
  ['no newest block', when('/getnowblock', () => ({}))],
  ['an error for the newest block', when('/getnowblock', () => ({ Error: 'class x' }))],
  ['a block whose id has another number', when('/getnowblock', (json) => ({ ...json, blockID: '0'.repeat(64) }))],
])('nothing is concluded from a node that gives %s', async (_what, lie) => {
  await expect(read(await tron.liar(lie))).rejects.toEqual(unreliable)
})

it('knows costs without any address', async () => {
  const fees = await tron.client([tron.at.node.url]).funds?.fees()
  expect(fees?.perAsset).toEqual(
    new Map([
      ['trx_tron', 270_000n],
      ['usdt_tron', 13_378_500n],
    ]),
  )
})
