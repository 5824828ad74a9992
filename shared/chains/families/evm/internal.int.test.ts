import { describe, expect, it } from 'vitest'
import { DEVELOPMENT_PAYER } from '#dev/local-chain/pay.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useEvmStage, WATCHED_ACCOUNT } from '#test/support/evm-stage.ts'
import type { EvmClient } from './client.ts'
import { COIN_TRANSFER_TOPIC, SYSTEM_COIN } from './extract.ts'
import type { InternalMoves } from './options.ts'

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
const { liar, watches } = stage
watches.add(REFUSES.slice(2))

const client = (urls: readonly string[], internal: InternalMoves) => stage.client(urls, { tokens: [], internal })

const refusing = (...methods: readonly string[]): Promise<string> =>
  liar((call, truth) =>
    methods.includes(call.method) ? { error: { code: -32_601, message: 'the method does not exist' } } : truth,
  )

/** Mines one transaction with a value; gives its block's height. */
async function send(to: string, value: bigint, ...words: readonly string[]): Promise<number> {
  const data = `0x${words.map((word) => word.slice(2).toLowerCase().padStart(64, '0')).join('')}`
  const transaction = { from: DEVELOPMENT_PAYER, to, value: `0x${value.toString(16)}`, data, gas: '0x7a120' }
  await stage.chain.rpc('eth_sendTransaction', [transaction])
  await stage.chain.mine()
  return Number(await stage.chain.rpc('eth_blockNumber'))
}

const traced: InternalMoves = { ledger: 'trace', required: true }

async function found(reader: EvmClient, height: number): Promise<readonly string[]> {
  const [block] = await reader.scan(height, height, watches)
  return (block?.transfers ?? []).map(({ key, amountBase }) => `${key.split(':').slice(3).join(':')} = ${amountBase}`)
}

const inside = (from: string, ordinal = 0) => `i:${from}:${OURS.toLowerCase()}:5:${ordinal} = 5`

describe('case 9: coins that contracts send', () => {
  // Guarantee: what a contract pays us is credited once, under the same key whichever way the node traces.
  it.each<[string, string, bigint, readonly string[], readonly string[]]>(
    sampleOf(
      [
        ['are found', SENDS, 5n, [OURS], [inside(SENDS)]],
        [
          'are found twice when they were sent twice',
          SENDS_TWICE,
          10n,
          [OURS],
          [inside(SENDS_TWICE), inside(SENDS_TWICE, 1)],
        ],
        ['are found below other calls', CALLS, 5n, [OURS, SENDS], [inside(SENDS)]],
        ['are found when a contract ends', ENDS, 5n, [OURS], [inside(ENDS)]],
        ['are found where a delegate sends them', DELEGATES, 5n, [OURS, SENDS], [inside(DELEGATES)]],
        ['are none where only a delegate call names them', DELEGATES, 5n, [OURS, OURS], []],
        ['are none where value 0 is called', SENDS, 0n, [OURS], []],
        ['case 8: are none below a call that reverted', CALLS, 5n, [OURS, SENDS_AND_REVERTS], []],
        ['case 8: are none in a transaction that reverted', SENDS_AND_REVERTS, 5n, [OURS], []],
        ['case 8: are none when a transaction itself reverted', REFUSES, 5n, [], []],
        ['are not counted again at the top', OURS, 5n, [], ['n = 5']],
      ],
      2,
    ),
  )('%s', async (_what, to, value, words, expected) => {
    const height = await send(to, value, ...words)
    const urls = [stage.chain.url, await refusing('trace_block')]
    for (const url of urls) expect(await found(client([url], traced), height)).toEqual(expected)
    const untraced = client([stage.chain.url], { ledger: 'none', required: true })
    expect(await found(untraced, height)).toEqual(expected.filter((key) => key.startsWith('n ')))
  })
})

describe('nodes without traces', () => {
  const none = () => refusing('trace_block', 'debug_traceBlockByNumber')

  it('are refused where settings demand traces', async () => {
    await expect(client([await none()], traced).verify()).rejects.toMatchObject({ name: 'NodeMismatch' })
  })

  it('are scanned for what transactions send where they do not', async () => {
    const height = await send(OURS, 5n)
    const reader = client([await none()], { ledger: 'trace', required: false })
    await reader.verify()
    expect(await found(reader, height)).toEqual(['n = 5'])
  })

  // Guarantee: once coins inside of calls are seen, no failover makes the scanner blind for them.
  it('are no substitute for one with traces', async () => {
    const height = await send(SENDS, 5n, OURS)
    let down = false
    const tracing = await liar((_call, truth) => (down ? { status: 503 } : truth))
    const reader = client([await none(), tracing], { ledger: 'trace', required: false })
    await reader.verify()
    expect(await found(reader, height)).toEqual([inside(SENDS)])
    down = true
    await expect(reader.scan(height, height, watches)).rejects.toBeInstanceOf(NodeUnreliable)
  })
})

describe('a network that logs its coins', () => {
  const logged: InternalMoves = { ledger: 'logs', required: true }

  it('shows coins inside of calls without traces', async () => {
    const height = await send(SYSTEM_COIN, 5n, OURS)
    const reader = client([await refusing('trace_block', 'debug_traceBlockByNumber')], logged)
    await reader.verify()
    expect(await found(reader, height)).toEqual([`p:${DEVELOPMENT_PAYER.toLowerCase()}:${OURS.toLowerCase()}:5:0 = 5`])
  })

  // Guarantee: a network that stops to log coins stops the scanner instead of losing payments.
  it('is not believed when coins were sent and not logged', async () => {
    const height = await send(OURS, 5n)
    await expect(client([stage.chain.url], logged).scan(height, height, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height, reason: expect.stringContaining('not logged') },
    })
  })
})
