import { describe, expect, it } from 'vitest'
import { DEVELOPMENT_PAYER } from '#dev/local-chain/pay.ts'
import { readBalanceChanges } from '#shared/usecases/scanning/read-balance-changes.ts'
import { settleIncreases } from '#shared/usecases/scanning/settle-increases.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useEvmStage, WATCHED_ACCOUNT } from '#test/support/evm-stage.ts'
import type { EvmClient } from './client.ts'
import { COIN_TRANSFER_TOPIC, SYSTEM_COIN } from './extract.ts'

const OURS = WATCHED_ACCOUNT
/** A watched contract that takes no coins. */
const REFUSES = `0x${'d'.repeat(40)}`

/** call(gas, first argument, value of this call, no data). */
const SEND = '6000600060006000346000355af1'
/** The same with a value of 5; the result is dropped. */
const SEND_5 = '600060006000600060056000355af150'
/** call(gas, second argument, value of this call, first argument as data), and delegatecall with the same. */
const CALL_OTHER = '6000356000526000600060206000346020355af1'
const DELEGATE = '60003560005260006000602060006020355af4'
/** log4(value of this call …; topic, this contract, caller, first argument). */
const LOG = `346000526000353330${'7f'}${COIN_TRANSFER_TOPIC.slice(2)}60a06000a4`
const STOP = '00'
const REVERT = '60006000fd'

const SENDS = `0x${'a1'.repeat(20)}`
const SENDS_TWICE = `0x${'a2'.repeat(20)}`
const SENDS_AND_REVERTS = `0x${'a3'.repeat(20)}`
const CALLS = `0x${'a4'.repeat(20)}`
const DELEGATES = `0x${'a5'.repeat(20)}`
const ENDS = `0x${'a6'.repeat(20)}`
const CODE: Readonly<Record<string, string>> = {
  [SENDS]: SEND + STOP,
  [SENDS_TWICE]: SEND_5 + SEND_5 + STOP,
  [SENDS_AND_REVERTS]: SEND + REVERT,
  [CALLS]: CALL_OTHER + STOP,
  [DELEGATES]: DELEGATE + STOP,
  [ENDS]: '600035ff',
  [REFUSES]: REVERT,
  [SYSTEM_COIN]: LOG + SEND + STOP,
}

const stage = useEvmStage(async (chain) => {
  for (const [address, code] of Object.entries(CODE)) await chain.rpc('anvil_setCode', [address, `0x${code}`])
})
const { watches } = stage
watches.add(REFUSES.slice(2))

const client = (change: { readonly logsCoins?: boolean } = {}) =>
  stage.client([stage.chain.url], { tokens: [], ...change })

/** Mines one transaction with a value; gives its block's height. */
async function send(to: string, value: bigint, ...words: readonly string[]): Promise<number> {
  const data = `0x${words.map((word) => word.slice(2).toLowerCase().padStart(64, '0')).join('')}`
  const transaction = { from: DEVELOPMENT_PAYER, to, value: `0x${value.toString(16)}`, data, gas: '0x7a120' }
  await stage.chain.rpc('eth_sendTransaction', [transaction])
  await stage.chain.mine()
  return Number(await stage.chain.rpc('eth_blockNumber'))
}

async function found(reader: EvmClient, height: number): Promise<readonly string[]> {
  const [block] = await reader.scan(height, height, watches)
  return (block?.transfers ?? []).map(({ key, amountBase }) => `${key.split(':').slice(3).join(':')} = ${amountBase}`)
}

/** How much more coins the watched account has after a block than before it. */
async function gained(reader: EvmClient, height: number): Promise<bigint> {
  const { balances } = reader
  if (balances === undefined) throw new Error('no balances')
  const [block] = await reader.scan(height, height, watches)
  if (block === undefined) throw new Error('no block')
  const { found: changes } = await readBalanceChanges(balances, [block], watches.keys())
  const [change] = changes[0]?.changes ?? []
  return change === undefined ? 0n : change.afterBase - change.beforeBase
}

describe('case 9: coins that contracts send', () => {
  // Guarantee: what a contract pays us is in the balance alone, once, and a direct transfer is a transfer alone.
  it.each<[string, string, bigint, readonly string[], readonly string[], bigint]>(
    sampleOf(
      [
        ['grow the balance', SENDS, 5n, [OURS], [], 5n],
        ['grow it twice when they were sent twice', SENDS_TWICE, 10n, [OURS], [], 10n],
        ['grow it below other calls', CALLS, 5n, [OURS, SENDS], [], 5n],
        ['grow it when a contract ends', ENDS, 5n, [OURS], [], 5n],
        ['grow it where a delegate sends them', DELEGATES, 5n, [OURS, SENDS], [], 5n],
        ['are none where only a delegate call names them', DELEGATES, 5n, [OURS, OURS], [], 0n],
        ['are none where value 0 is called', SENDS, 0n, [OURS], [], 0n],
        ['case 8: are none below a call that reverted', CALLS, 5n, [OURS, SENDS_AND_REVERTS], [], 0n],
        ['case 8: are none in a transaction that reverted', SENDS_AND_REVERTS, 5n, [OURS], [], 0n],
        ['case 8: are none when a transaction itself reverted', REFUSES, 5n, [], [], 0n],
        ['are a transfer when they are sent directly', OURS, 5n, [], ['n = 5'], 5n],
      ],
      2,
    ),
  )('%s', async (_what, to, value, words, transfers, gainBase) => {
    const height = await send(to, value, ...words)
    expect(await found(client(), height)).toEqual(transfers)
    expect(await gained(client(), height)).toBe(gainBase)
  })
})

// Guarantee: coins that a contract pays and their owner sends on within one block are an increase, although the balance is what it was.
it('are found where as much leaves the account in the same block', async () => {
  await send(OURS, 10n ** 18n)
  await stage.chain.rpc('anvil_impersonateAccount', [OURS])
  const gasPrice = 10n ** 10n
  const sent = { from: OURS, to: DEVELOPMENT_PAYER, gas: '0x5208', gasPrice: `0x${gasPrice.toString(16)}` }
  const value = 5n * 10n ** 17n
  await stage.chain.rpc('eth_sendTransaction', [{ ...sent, value: `0x${(value - 21_000n * gasPrice).toString(16)}` }])
  const height = await send(SENDS, value, OURS)
  const reader = client()
  const { balances } = reader
  const blocks = await reader.scan(height, height, watches, undefined, new Set([OURS.slice(2).toLowerCase()]))
  if (balances === undefined) throw new Error('no balances')
  const { found: changes } = await readBalanceChanges(balances, blocks, watches.keys())
  const source = { mode: 'test', network: 'ethereum', client: { balances, blockAt: reader.blockAt } } as const
  const payments = { listInBlocks: async () => [], findByKeys: async () => [] }
  const [settled] = await settleIncreases({ deps: { payments }, source } as never, changes)
  expect(settled?.transfers).toMatchObject([{ amountBase: value }])
})

// Guarantee: what an account is said to have sent is one node's word: another one must show it before an increase counts by it.
it.each([
  ['as much as the account sent', 0n, 'same'],
  ['more than it sent', 1n, 'other'],
] as const)('are vouched for by a second node where they are %s', async (_what, moreBase, verdict) => {
  await send(OURS, 10n ** 18n)
  await stage.chain.rpc('anvil_impersonateAccount', [OURS])
  const gasPrice = 10n ** 10n
  const value = 5n * 10n ** 17n
  const own = { from: OURS, to: DEVELOPMENT_PAYER, gas: '0x5208', gasPrice: `0x${gasPrice.toString(16)}` }
  await stage.chain.rpc('eth_sendTransaction', [{ ...own, value: `0x${(value - 21_000n * gasPrice).toString(16)}` }])
  const height = await send(SENDS, value, OURS)
  const reader = stage.client([stage.chain.url, stage.chain.url], { tokens: [] })
  const { balances } = reader
  const block = await reader.blockAt(height)
  if (balances === undefined || block === null) throw new Error('no balances')
  const matchKey = OURS.slice(2).toLowerCase()
  const since = { height: height - 1, hash: block.parentHash }
  const read = async (place: { height: number; hash: string }) =>
    String((await balances.read([matchKey], place))?.get(matchKey))
  const figures = { beforeBase: await read(since), afterBase: await read(block) }
  const { hash } = block
  const seen = { key: 'd', matchKey, amountBase: value + moreBase, height, hash, since, ...figures }
  expect((await balances.second([seen])).get('d')).toBe(verdict)
  expect([...(await balances.disputed([seen]))]).toEqual(moreBase === 0n ? [] : ['d'])
  expect([...(await balances.disputed([{ ...seen, second: 'same' }]))]).toEqual(moreBase === 0n ? [] : ['d'])
})

describe('a network that logs its coins', () => {
  it('shows coins inside of calls, so that no balance is needed', async () => {
    const height = await send(SYSTEM_COIN, 5n, OURS)
    const reader = client({ logsCoins: true })
    expect(reader.balances).toBeUndefined()
    expect(await found(reader, height)).toEqual([`p:${DEVELOPMENT_PAYER.toLowerCase()}:${OURS.toLowerCase()}:5:0 = 5`])
  })

  // Guarantee: a network that stops to log coins stops the scanner instead of losing payments.
  it('is not believed when coins were sent and not logged', async () => {
    const height = await send(OURS, 5n)
    await expect(client({ logsCoins: true }).scan(height, height, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height, reason: expect.stringContaining('not logged') },
    })
  })
})
