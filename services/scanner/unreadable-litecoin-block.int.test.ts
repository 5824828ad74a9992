import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode, WITHOUT_MWEB } from '#dev/local-chain/litecoin-node.ts'
import { namedOf, sampleOf } from '#test/support/depth.ts'
import { useFamilyStage } from '#test/support/family-stage.ts'
import { type Lie, type RpcAnswer, startLyingNode } from '#test/support/lying-node.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
const stage = useFamilyStage(stores, 'litecoin', 'litecoin')
/** Hex digits of a block with more than two payments. A block of regression tests with its coinbase alone has about 500. */
const LARGE = 1_500
const ABSENT: RpcAnswer = {
  error: { code: -5, message: 'No such transaction found in the provided block' },
  status: 500,
}

let node: LitecoinNode
beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null, flags: WITHOUT_MWEB })
})
afterAll(() => node.stop())
// A first start looks back at 16 blocks, which are not to be those of another test.
beforeEach(() => node.mine(20))

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
})

/** A node that answers requests for large blocks with `answer` (null cuts the connection) and lies about their parts. */
async function breaking(answer: RpcAnswer | null, lie: Lie = (_call, truth) => truth): Promise<string> {
  const proxy = await startLyingNode(node.url, (call, truth) => {
    const { result } = truth
    if (call.method !== 'getblock' || typeof result !== 'string' || result.length < LARGE) return lie(call, truth)
    if (answer === null) throw new Error('cut')
    return answer
  })
  opened.push(proxy)
  return proxy.url
}

const height = async () => (await node.rpc('getblockcount')) as number
const elsewhere = () => `0014${randomBytes(20).toString('hex')}`

/** Mines a block with two payments to us and three to others; gives its height and hash. */
async function mineLarge(): Promise<{ height: number; hash: string }> {
  const to = stage.watched.matchKey
  await node.pay([{ to, amountBase: 1_000_000n }])
  await node.pay([
    { to: elsewhere(), amountBase: 9_000_000n },
    { to, amountBase: 2_000_000n },
  ])
  for (const _other of [1, 2, 3]) await node.pay([{ to: elsewhere(), amountBase: 5_000_000n }])
  const [hash = ''] = await node.mine()
  return { height: await height(), hash }
}

/** Starts scanners through nodes and waits until they are at the head. */
async function scanThrough(urls: readonly string[]): Promise<void> {
  stage.scan(urls)
  await stage.untilHeight(await height())
}

const inBlock = (at: number, state: string) =>
  ['1000000', '2000000'].map((amount) => ({ amount, state, height: at, key: expect.stringMatching(/:\d+$/) }))

describe('a block of Litecoin that a node does not give whole', () => {
  // Guarantee: one block that is too much for a node holds up no payment, neither in it nor behind it.
  it.each<[string, RpcAnswer | null]>(
    namedOf(
      [
        ['status 413', { status: 413 }],
        ['a lost connection', null],
        ['other bytes', { result: '00'.repeat(900) }],
        ['half an answer', { result: 'ab' }],
        ['null', { result: null }],
        ['an error about its memory', { error: { code: -7, message: 'Out of memory' }, status: 500 }],
      ],
      'status 413',
    ),
  )('with %s is read transaction by transaction', async (_what, answer) => {
    await scanThrough([await breaking(answer)])
    const large = await mineLarge()
    await node.pay([{ to: stage.watched.matchKey, amountBase: 3_000_000n }])
    await node.mine(2)
    await stage.untilPayments([
      ...inBlock(large.height, 'confirmed'),
      { amount: '3000000', state: 'confirmed', height: large.height + 1 },
    ])
    expect((await stage.cursor())?.trouble ?? null).toBeNull()
  })

  // Guarantee: whichever way a block is read first, and wherever a scanner dies, money is credited once.
  it.each([
    ['in parts, then whole', true],
    ['whole, then in parts', false],
  ])('and read twice is credited once: %s', async (_order, partsFirst) => {
    const ways = [await breaking({ status: 413 }), node.url]
    if (!partsFirst) ways.reverse()
    const [first = '', second = ''] = ways
    await stage.scanAndDie([node.url], (await height()) - 1)
    const large = await mineLarge()
    await stage.scanAndDie([first], large.height)
    const before = await stage.payments()
    expect(before).toMatchObject(inBlock(large.height, 'detected'))
    stage.scan([second])
    await stage.untilHeight(large.height)
    await node.mine(2)
    await stage.untilPayments(before.map((payment) => ({ ...payment, state: 'confirmed' })))
  })

  it('by one node is read whole from the next one', async () => {
    await scanThrough([await breaking({ status: 413 }, nothing), node.url])
    const large = await mineLarge()
    await stage.untilPayments(inBlock(large.height, 'detected'))
  })
})

/** Has no single transaction of a large block. */
const nothing: Lie = ({ method, params }, truth) =>
  method === 'getrawtransaction' && params.length === 3 ? ABSENT : truth

describe('a part of such a block that the node does not give or gives wrong', () => {
  // Guarantee: the cursor passes the block only when every transaction was read, and the trouble names block and cause.
  it.each<[string, Lie, object]>(
    sampleOf(
      [
        ['leaves an id out', listing((ids) => ids.slice(0, -1)), { method: 'getblock' }],
        [
          'lists an id that is not in the block',
          listing((ids) => [...ids.slice(0, -1), 'ab'.repeat(32)]),
          { method: 'getblock' },
        ],
        ['has not one of its transactions', about(2, () => ABSENT), { method: 'getrawtransaction' }],
        [
          'gives another transaction',
          about(2, (one) => one),
          { method: 'getrawtransaction', reason: expect.stringContaining('another transaction') },
        ],
      ],
      1,
    ),
  )('%s: the block is named until it is mended, and then credited once', async (_what, lie, named) => {
    let mended = false
    await scanThrough([await breaking({ status: 413 }, (call, truth) => (mended ? truth : lie(call, truth)))])
    const large = await mineLarge()
    await node.pay([{ to: stage.watched.matchKey, amountBase: 3_000_000n }])
    await node.mine(2)
    await stage.untilStuck({ kind: 'node', ...large, ...named })
    await stage.untilHeight(large.height - 1)
    expect((await stage.cursor())?.height).toBe(large.height - 1)
    expect((await stage.payments()).filter(({ height }) => height !== undefined)).toEqual([])
    mended = true
    await stage.untilPayments([...inBlock(large.height, 'confirmed'), { amount: '3000000', state: 'confirmed' }])
  })
})

/** Changes the list of ids of blocks with more than two transactions. */
function listing(change: (ids: readonly string[]) => readonly string[]): Lie {
  return ({ method }, truth) => {
    if (method !== 'getblock' || typeof truth.result !== 'object') return truth
    const block = truth.result as { readonly tx: readonly string[] }
    return block.tx.length <= 2 ? truth : { result: { ...block, tx: change(block.tx) } }
  }
}

/** Answers the request for the transaction at a place of a listed block; `answer` gets the answer about the one before. */
function about(place: number, answer: (before: RpcAnswer) => RpcAnswer): Lie {
  let ids: readonly string[] = []
  let before: RpcAnswer = { result: '' }
  return ({ method, params }, truth) => {
    const { result } = truth
    if (method === 'getblock' && typeof result === 'object' && result !== null) {
      ids = (result as { tx: readonly string[] }).tx
    }
    if (method !== 'getrawtransaction') return truth
    if (params[0] === ids[place - 1]) before = truth
    return params[0] === ids[place] ? answer(before) : truth
  }
}
