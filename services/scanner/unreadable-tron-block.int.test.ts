import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTronNode, type TronNode } from '#dev/local-chain/tron-node/start-tron-node.ts'
import { sampleOf } from '#test/support/depth.ts'
import { useFamilyStage } from '#test/support/family-stage.ts'
import { startLyingTronNode, type TronLie } from '#test/support/lying-tron-node.ts'
import { useStores } from '#test/support/stores.ts'

const SOLID_LAG = 2
const PAYER = `41${'d'.repeat(40)}`
const OTHER = `41${'e'.repeat(40)}`
const CONTRACT = `41${'c'.repeat(40)}`

const stores = useStores()
const stage = useFamilyStage(stores, 'tron', 'tron', 250)

let node: TronNode
/** Height of the block that the nodes of a test lie about. */
let bad: number
beforeEach(async () => {
  node = await startTronNode({ blockTimeMs: null, solidLag: SOLID_LAG })
  node.mine(3)
  bad = node.height() + 2
})
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
  await node.stop()
})

async function lying(lie: TronLie): Promise<string> {
  const proxy = await startLyingTronNode(node.url, lie)
  opened.push(proxy)
  return proxy.url
}

/** Breaks the answer to one request about the bad block. */
const breaking =
  (method: string, answer: unknown): TronLie =>
  (truth) =>
    truth.method === method && truth.params['num'] === bad ? answer : undefined
const infosBroken = breaking('gettransactioninfobyblocknum', '<html>too large</html>')
const bodyBroken: TronLie = (truth) => {
  const { method, params, json } = truth
  const holds = (json as { block?: unknown[] }).block !== undefined && Number(params['endNum']) > bad
  return method === 'getblockbylimitnext' && holds ? 'too large' : breaking('getblockbynum', 'too large')(truth)
}
const both =
  (...lies: readonly TronLie[]): TronLie =>
  (truth) =>
    lies.map((lie) => lie(truth)).find((said) => said !== undefined)

/** Sends TRX, USDT, coins by a contract, and others' payments, all into the bad block; and a payment behind it. */
async function mineBad(others = 3): Promise<void> {
  while (node.height() < bad - 1) node.mine()
  const { address, matchKey } = stage.watched
  for (let index = 0; index < others; index += 1) {
    node.submit({ kind: 'transfer', owner: PAYER, to: OTHER, amount: String(index + 1) })
  }
  await node.pay({ asset: 'trx_tron', to: address, amountBase: 7n })
  await node.pay({ asset: 'usdt_tron', to: address, amountBase: 8n })
  const payout = { from: CONTRACT, to: `41${matchKey}`, amount: '9', note: 'call' }
  node.submit({ kind: 'call', owner: PAYER, contract: CONTRACT, data: '' }, { internals: [payout, payout] })
  // What failed credits nothing.
  node.submit({ kind: 'transfer', owner: PAYER, to: `41${matchKey}`, amount: '99' }, { result: 'REVERT' })
  node.mine()
  await node.pay({ asset: 'trx_tron', to: address, amountBase: 95n })
  node.mine(1 + SOLID_LAG)
}

const credited = (state: string) => [
  { amount: '7', state, height: bad, key: expect.stringMatching(/:c0$/) },
  { amount: '8', state, height: bad, key: expect.stringMatching(/:l0$/) },
  { amount: '9', state, height: bad, key: expect.stringMatching(/:0$/) },
  { amount: '9', state, height: bad, key: expect.stringMatching(/:1$/) },
  { amount: '95', state: 'confirmed', height: bad + 1 },
]

async function begin(urls: readonly string[]): Promise<void> {
  stage.scan(urls)
  await stage.untilHeight(node.height())
}

describe('a block of TRON that a node does not give as usual', () => {
  // Guarantee: one block that is too much for a node holds up no payment, neither in it nor behind it.
  it.each<[string, TronLie]>(
    sampleOf(
      [
        ['a page instead of its infos', (truth) => infosBroken(truth)],
        ['no infos', (truth) => breaking('gettransactioninfobyblocknum', [])(truth)],
        ['nothing about its infos', (truth) => breaking('gettransactioninfobyblocknum', {})(truth)],
        ['a lost connection', (truth) => breaking('gettransactioninfobyblocknum', null)(truth)],
        ['infos of another form', (truth) => breaking('gettransactioninfobyblocknum', [{ id: 7 }])(truth)],
        ['text instead of its body', (truth) => bodyBroken(truth)],
      ],
      1,
    ),
  )('with %s is read transaction by transaction', async (_what, lie) => {
    await begin([await lying(lie)])
    await mineBad()
    await stage.untilPayments(credited('confirmed'))
    expect((await stage.cursor())?.trouble ?? null).toBeNull()
  })

  // Guarantee: whichever way a block is read first, and wherever a scanner dies, money is credited once.
  it.each([
    ['in parts, then as usual', true],
    ['as usual, then in parts', false],
  ])('and read twice is credited once: %s', async (_order, partsFirst) => {
    const ways = [await lying(infosBroken), node.url]
    if (!partsFirst) ways.reverse()
    const [first = '', second = ''] = ways
    await stage.scanAndDie([node.url], node.height() - 1)
    await mineBad()
    await stage.scanAndDie([first], bad)
    // What lies behind the block may have been read in the same batch.
    const before = (await stage.payments()).filter(({ height }) => height === bad)
    expect(before.map(({ amount }) => amount)).toEqual(['7', '8', '9', '9'])
    stage.scan([second])
    await stage.untilPayments([...before.map((payment) => ({ ...payment, state: 'confirmed' })), { amount: '95' }])
  })

  // Guarantee: a payment confirms although no node gives its block as usual, and only when a second one shows it.
  it('is confirmed by a second node that does not give it so either', async () => {
    await begin([await lying(infosBroken), await lying(infosBroken)])
    await mineBad()
    await stage.untilPayments(credited('confirmed'))
  })

  it('is not confirmed by a second node that has nothing about one of its payments', async () => {
    const hides: TronLie = both(infosBroken, ({ method, json }) =>
      method === 'gettransactioninfobyid' && (json as { blockNumber?: number }).blockNumber === bad ? {} : undefined,
    )
    await begin([await lying(infosBroken), await lying(hides)])
    await mineBad()
    await stage.untilHeight(node.height())
    await stage.untilPayments(credited('detected').map((payment) => ({ ...payment, state: 'detected' })))
  })
})

describe('a part of such a block that a node does not give or gives wrong', () => {
  /** Answers the `place`th request for a transaction of the bad block, and every later one for the same. */
  function about(method: string, change: (json: Readonly<Record<string, unknown>>) => unknown, place = 2): TronLie {
    const seen: unknown[] = []
    return ({ method: requests, params, json }) => {
      if (requests !== method) return undefined
      if (!seen.includes(params['value'])) seen.push(params['value'])
      return params['value'] === seen[place] ? change(json as Readonly<Record<string, unknown>>) : undefined
    }
  }

  // Guarantee: the cursor passes the block only when every transaction was read; nothing about one is pending, never nothing.
  it.each<[string, () => TronLie, string, number]>(
    sampleOf(
      [
        ['has nothing about one of 200', () => about('gettransactioninfobyid', () => ({}), 150), 'infos', 196],
        [
          'gives the info of another',
          () => about('gettransactioninfobyid', (info) => ({ ...info, id: 'ab'.repeat(32) })),
          'infos',
          3,
        ],
        [
          'gives an info of another block',
          () => about('gettransactioninfobyid', (info) => ({ ...info, blockNumber: 1 })),
          'infos',
          3,
        ],
        [
          'calls a success a failure',
          () => about('gettransactioninfobyid', (info) => ({ ...info, result: 'FAILED' })),
          'infos',
          3,
        ],
        ['has nothing about one transaction', () => about('gettransactionbyid', () => ({})), 'body', 3],
        [
          'gives other bytes',
          () => about('gettransactionbyid', (one) => ({ ...one, raw_data_hex: '0a02' })),
          'body',
          3,
        ],
        [
          'gives another transaction',
          () => about('gettransactionbyid', (one) => ({ ...one, txID: 'ab'.repeat(32) })),
          'body',
          3,
        ],
        [
          'leaves an info out',
          () =>
            ({ method, params, json }) =>
              method === 'gettransactioninfobyblocknum' && params['num'] === bad
                ? (json as unknown[]).slice(1)
                : undefined,
          'body',
          3,
        ],
        ['counts no transactions', () => breaking('gettransactioncountbyblocknum', { count: -1 }), 'body', 3],
      ],
      2,
    ),
  )('%s: the block is named until it is mended, and then credited once', async (_what, makeLie, broken, others) => {
    let mended = false
    const lie = both(broken === 'infos' ? infosBroken : bodyBroken, makeLie())
    await begin([await lying((truth) => (mended ? undefined : lie(truth)))])
    await mineBad(others)
    await stage.untilStuck({ kind: 'node', height: bad, method: expect.stringMatching(/^wallet\/get/) })
    await stage.untilHeight(bad - 1)
    expect((await stage.cursor())?.height).toBe(bad - 1)
    expect(await stage.payments()).toEqual([])
    mended = true
    await stage.untilPayments(credited('confirmed'))
  })
})
