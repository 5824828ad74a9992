import { describe, expect, it } from 'vitest'
import { call } from '#dev/local-chain/pay.ts'
import { ASSETS } from '#shared/chains/definitions/assets.ts'
import { CHAINS } from '#shared/chains/definitions/registry.ts'
import { type AccountQuestion, type AccountReader, type BlockPlace, hasCode } from '#shared/ports/account-reader.ts'
import { NodeUnreliable } from '#shared/ports/scanning.ts'
import { useEvmStage, WATCHED_ACCOUNT } from '#test/support/evm-stage.ts'
import type { Lie } from '#test/support/lying-node.ts'
import { usePassingTime } from '#test/support/passing-time.ts'
import { HONEST, startWorldNode } from '#test/support/world-node.ts'
import type { EvmClient } from './client.ts'

const OURS = WATCHED_ACCOUNT.slice(2).toLowerCase()
const ELSEWHERE = `0x${'77'.repeat(20)}`
const USDT = ASSETS.usdt_ethereum.contract
const ETHER = 10n ** 18n
const CALL_CREATED: Parameters<Lie>[0]['method'] = 'eth_call'

const pass = usePassingTime()
const stage = useEvmStage(async (chain) => {
  await chain.mine(3)
  await chain.rpc('anvil_impersonateAccount', [WATCHED_ACCOUNT])
})

const readerOf = ({ accounts }: EvmClient): AccountReader => {
  if (accounts === undefined) throw new Error('no reader')
  return accounts
}
const open = (urls = [stage.chain.url]) => readerOf(stage.client(urls))

async function head(): Promise<BlockPlace> {
  const { number, hash, timestamp } = (await stage.chain.rpc('eth_getBlockByNumber', ['latest', false])) as Record<
    string,
    string
  >
  return { height: Number(number), hash: hash ?? '', time: Number(timestamp) * 1_000 }
}

/** Lets something happen in the third of six new blocks; gives the range and that height. */
async function during(...acts: (() => Promise<unknown>)[]) {
  const from = await head()
  await stage.chain.mine(2)
  for (const act of acts) {
    await act()
    await stage.chain.mine(1)
  }
  await stage.chain.mine(3)
  return { from, to: await head(), at: from.height + 3 }
}

const send = (from: string, to: string, more: object) =>
  stage.chain.rpc('eth_sendTransaction', [{ from, to, gas: '0x30d40', ...more }])
const pay = (asset: 'usdt_ethereum' | 'eth_ethereum', amountBase: bigint) => () =>
  stage.chain.pay({ asset, to: WATCHED_ACCOUNT, amountBase })
const passOnTokens = (amountBase: bigint) => () =>
  send(WATCHED_ACCOUNT, USDT, { data: call('a9059cbb', ELSEWHERE, amountBase) })

/** Everything counts, and one request for logs is allowed. */
const FREE = { least: [1n, 1n], budget: { blocks: 50, reads: 400, logs: 1 } }
type Range = Pick<AccountQuestion, 'from' | 'to'> & Partial<AccountQuestion>

async function heightsOf(reader: AccountReader, range: Range, exactly = true) {
  const answer = await reader.touched({ matchKeys: [OURS], senders: exactly ? [OURS] : [], exactly, ...FREE, ...range })
  return typeof answer === 'string' ? answer : answer.heights
}

describe('the blocks that concern few accounts', () => {
  it('are none where nothing happened', async () => {
    expect(await heightsOf(open(), await during())).toEqual([])
  })

  it('contain the block of a token transfer', async () => {
    const { at, ...range } = await during(pay('usdt_ethereum', 5n))
    expect(await heightsOf(open(), range)).toEqual([at])
    expect(await heightsOf(open(), range, false)).toEqual([at])
  })

  it('contain every block in which a coin balance changed', async () => {
    const { at, ...range } = await during(pay('eth_ethereum', ETHER), pay('eth_ethereum', 2n * ETHER))
    expect(await heightsOf(open(), range)).toEqual([at, at + 1])
  })

  // Guarantee: tokens that came in and went out within one range are found although the balance is the same.
  it('contain tokens that came in and went out again', async () => {
    await stage.chain.fund(WATCHED_ACCOUNT, 100n * ETHER)
    await stage.chain.mine()
    const { at, ...range } = await during(pay('usdt_ethereum', 7n), passOnTokens(7n))
    expect(await heightsOf(open(), range)).toContain(at)
  })

  // Guarantee: so are coins, because the account sent something, even where the balance is the same to the last unit.
  it('contain coins that came in and went out again', async () => {
    await stage.chain.fund(WATCHED_ACCOUNT, ETHER)
    await stage.chain.mine()
    const restore = async () => {
      await send(WATCHED_ACCOUNT, ELSEWHERE, { value: `0x${ETHER.toString(16)}`, gas: '0x5208' })
      await stage.chain.mine()
      await stage.chain.fund(WATCHED_ACCOUNT, ETHER)
    }
    const { at, ...range } = await during(pay('eth_ethereum', ETHER), restore)
    expect(await heightsOf(open(), range)).toContain(at)
  })

  // Guarantee: a key that gives its account to a contract (EIP-7702) changes what its balances prove.
  it('show which accounts have code', async () => {
    const { at: _, ...range } = await during()
    const before = await open().everywhere([OURS], range.to)
    expect(before.map((state) => hasCode(state.get(OURS)))).toEqual([false])
    await stage.chain.rpc('anvil_setCode', [WATCHED_ACCOUNT, `0xef0100${'12'.repeat(20)}`])
    await stage.chain.mine()
    const [after] = await open().everywhere([OURS], await head())
    expect(hasCode(after?.get(OURS))).toBe(true)
    expect(after?.get(OURS)?.slice(0, -1)).toEqual(before[0]?.get(OURS)?.slice(0, -1))
    await stage.chain.rpc('anvil_setCode', [WATCHED_ACCOUNT, '0x'])
    await stage.chain.mine()
  })

  it('are not named for amounts that are stored already', async () => {
    const { at, ...range } = await during(pay('usdt_ethereum', 9n))
    const question = { ...FREE, ...range, matchKeys: [OURS], senders: [], exactly: false }
    expect(await open().touched({ ...question, stored: new Map([[OURS, [0n, 9n]]]) })).toMatchObject({ heights: [] })
    expect(await open().touched({ ...question, stored: new Map([[OURS, [0n, 8n]]]) })).toMatchObject({ heights: [at] })
  })

  it('are unknown on another branch, and when balances are gone', async () => {
    const { from, to } = await during()
    expect(await heightsOf(open(), { from: { ...from, hash: `0x${'0'.repeat(64)}` }, to })).toBe('forked')
    const pruned = await stage.liar(({ method, params }, truth) => {
      const old = method === 'eth_call' && (params[1] as { blockHash?: string }).blockHash === from.hash
      return old
        ? { error: { code: -32_000, message: 'missing trie node 0b1c (path ) state is not available' } }
        : truth
    })
    expect(await heightsOf(open([pruned]), { from, to })).toBe('gone')
  })

  // Guarantee: what is remembered of a range that the budget cut is the balances of its own last block.
  it('end with the balances of the block behind which no more are allowed', async () => {
    const acts = [pay('eth_ethereum', ETHER), pay('usdt_ethereum', 5n), pay('eth_ethereum', 2n * ETHER)]
    const { at, from, to } = await during(...acts)
    const question = { ...FREE, from, to, matchKeys: [OURS], senders: [OURS], exactly: true }
    const cut = await open().touched({ ...question, budget: { ...FREE.budget, blocks: 2 } })
    const { hash, timestamp } = (await stage.chain.rpc('eth_getBlockByNumber', [
      `0x${(at + 1).toString(16)}`,
      false,
    ])) as {
      hash: string
      timestamp: string
    }
    const end = { height: at + 1, hash, time: Number(timestamp) * 1_000 }
    const whole = await open().touched({ ...question, to: end })
    if (typeof whole === 'string') throw new Error(whole)
    expect(cut).toMatchObject({ heights: [at, at + 1], through: at + 1, state: whole.state })
  })

  it('are found with a range limit of five blocks', async () => {
    const limited = await stage.liar(({ method, params }, truth) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string }
      const isWide = method === 'eth_getLogs' && Number(toBlock) - Number(fromBlock) >= 5
      return isWide ? { error: { code: -32_602, message: 'eth_getLogs is limited to a 5 range' } } : truth
    })
    const from = await head()
    await stage.chain.mine(17)
    await pay('usdt_ethereum', 3n)()
    await stage.chain.mine(12)
    expect(await heightsOf(open([limited]), { from, to: await head() })).toEqual([from.height + 18])
  })
})

describe('a node that lies', () => {
  // Guarantee: a balance that grew without logs proves that logs are missing; the range does not count.
  it('is not believed when it leaves out logs', async () => {
    const { from, to } = await during(pay('usdt_ethereum', 11n))
    const silent = await stage.liar(({ method }, truth) => (method === 'eth_getLogs' ? { result: [] } : truth))
    await expect(heightsOf(open([silent]), { from, to })).rejects.toThrow(NodeUnreliable)
  })

  // Guarantee: with old balances the tokens are still found, by their logs.
  it('hides no tokens by old balances', async () => {
    const { at, ...range } = await during(pay('usdt_ethereum', 13n))
    const stale = await stage.liar(({ method }, truth) => {
      return method === CALL_CREATED && typeof truth.result === 'string' && truth.result.length === 2 + 3 * 64
        ? { result: `${truth.result.slice(0, 66)}${'0'.repeat(128)}` }
        : truth
    })
    expect(await heightsOf(open([stale]), range)).toEqual([at])
  })

  /** A node whose coin balance of our account stays as it is now. */
  async function frozen(): Promise<string> {
    const held = BigInt((await stage.chain.rpc('eth_getBalance', [WATCHED_ACCOUNT, 'latest'])) as string)
    return stage.liar(({ method }, truth) => {
      const { result } = truth
      const isRequested = method === CALL_CREATED && typeof result === 'string' && result.length === 2 + 3 * 64
      return isRequested
        ? { result: `${result.slice(0, 66)}${held.toString(16).padStart(64, '0')}${result.slice(130)}` }
        : truth
    })
  }

  it('hides no coins by old balances while a second node answers', async () => {
    const stale = await frozen()
    const { at, ...range } = await during(pay('eth_ethereum', ETHER))
    const reader = open([stale, stage.chain.url])
    const question = { ...FREE, ...range, matchKeys: [OURS], senders: [OURS], exactly: false }
    expect(await reader.touched(question)).toMatchObject({ heights: [] })
    expect(await reader.touched({ ...question, everywhere: true })).toMatchObject({ heights: [at] })
  })

  // Guarantee: what a stale node said before is no balance of a node that answers now.
  it('and heals is asked for the first block again', async () => {
    const reader = open()
    const { from, to } = await during()
    const question = { ...FREE, from, to, matchKeys: [OURS], senders: [OURS], exactly: true }
    const honest = await reader.touched(question)
    if (typeof honest === 'string') throw new Error(honest)
    const before = new Map([[OURS, [0n, ...(honest.state.get(OURS) ?? []).slice(1)]]])
    expect(await reader.touched({ ...question, before })).toMatchObject({ heights: [], start: honest.start })
  })

  it.each([
    ['nothing', '0x'],
    ['one word too few', `0x${'1'.padStart(128, '0')}`],
    ['no time', `0x${'0'.repeat(192)}`],
  ])('that answers %s is asked for each balance singly', async (_, result) => {
    const { at, ...range } = await during(pay('eth_ethereum', ETHER), pay('usdt_ethereum', 2n))
    const odd = await stage.liar(({ method, params }, truth) => {
      return method === 'eth_call' && (params[0] as { to?: string }).to === undefined ? { result } : truth
    })
    expect(await heightsOf(open([odd]), range)).toEqual([at, at + 1])
  })

  it('that falls back to an older block is not believed', async () => {
    let isOld = false
    const old = await stage.liar(({ method }, truth) => {
      const { result } = truth
      if (!isOld || method !== CALL_CREATED || typeof result !== 'string') return truth
      return { result: `0x${(BigInt(result.slice(0, 66)) - 60n).toString(16).padStart(64, '0')}${result.slice(66)}` }
    })
    const reader = open([old])
    expect((await reader.glance([OURS])).holdings.get(OURS)).toHaveLength(2)
    isOld = true
    await expect(reader.glance([OURS])).rejects.toThrow(NodeUnreliable)
  })
})

// Guarantee: no look and no deadline goes by the weaker rule because the node that has the balances just fails.
it('balances that one node has dropped are those of another one, or wait for it', async () => {
  const { at, ...range } = await during(pay('eth_ethereum', ETHER))
  const pruned = await startWorldNode(stage.chain.url, { ...HONEST, stateBlocks: 1 })
  const archive = await startWorldNode(stage.chain.url)
  for (const node of [pruned, archive]) stage.keep(node)
  for (const everywhere of [false, true]) {
    const reader = open([pruned.url, archive.url])
    const question = { ...FREE, ...range, matchKeys: [OURS], senders: [], exactly: false, everywhere }
    expect(await reader.touched(question)).toMatchObject({ heights: [at] })
    archive.refuse({ status: 503, result: 'busy' }, 1_000)
    await expect(reader.touched(question)).rejects.toThrow(NodeUnreliable)
    archive.mend()
    expect(await reader.touched(question)).toMatchObject({ heights: [at] })
  }
  archive.refuse({ status: 503, result: 'busy' }, 1_000)
  expect(await heightsOf(open([pruned.url, archive.url]), range)).toBe('gone')
})

// Guarantee: no deadline passes by what one node says while another one fails for a moment; one that fails for good holds it up for ten minutes.
it('nothing came in only where every node says so, or gave no answer for ten minutes', async () => {
  const { at, from, to } = await during(pay('usdt_ethereum', 3n))
  const other = await startWorldNode(stage.chain.url)
  stage.keep(other)
  const reader = open([stage.chain.url, other.url])
  const range = { from: from.height, to: to.height, matchKeys: [OURS], requests: 1 }
  const requests = [
    () => reader.everywhere([OURS], to),
    () => reader.received(range),
    () => reader.touched({ ...FREE, from, to, matchKeys: [OURS], senders: [], exactly: false, everywhere: true }),
  ] as const
  const answers = [{ length: 2 }, [at], { heights: [at] }]
  for (const [index, request] of requests.entries()) expect(await request()).toMatchObject(answers[index] ?? {})
  other.refuse({ status: 503, result: 'busy' }, 1_000)
  for (let times = 0; times < 2; times += 1) {
    for (const request of requests) await expect(request()).rejects.toThrow(NodeUnreliable)
    pass(300_000)
  }
  expect(await requests[0]()).toHaveLength(1)
  expect(await requests[1]()).toEqual([at])
  expect(await requests[2]()).toMatchObject({ heights: [at] })
})

// Guarantee: where answers state the height of a parent chain's block, the time shows that a node ignored the hash: two newest balances are no "unchanged".
it('balances of a block are those of that block on a network whose contracts see a parent chain', async () => {
  const from = await head()
  await stage.chain.rpc('evm_increaseTime', [60])
  await pay('eth_ethereum', ETHER)()
  await stage.chain.mine()
  const to = await head()
  const node = await startWorldNode(stage.chain.url, { ...HONEST, ignoresHashes: true })
  stage.keep(node)
  const { balances } = stage.client([node.url], { chain: { ...CHAINS.ethereum, numbersAreParents: true } })
  const coinsAt = async ({ height, hash }: BlockPlace) =>
    (await balances?.read([OURS], { height, hash }))?.get(OURS) ?? 0n
  expect((await coinsAt(to)) - (await coinsAt(from))).toBe(ETHER)
})
