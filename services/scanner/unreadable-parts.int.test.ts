import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { increase, useBalanceStage } from '#test/support/balance-stage.ts'
import { sampleOf } from '#test/support/depth.ts'
import type { Lie, RpcAnswer } from '#test/support/lying-node.ts'
import { WATCHED } from '#test/support/scan-stage.ts'
import { useStores } from '#test/support/stores.ts'
import { HONEST, startWorldNode } from '#test/support/world-node.ts'

const stores = useStores()
const { stage, source, clientOf, waitForEther, send, lying } = useBalanceStage(stores)

/** How long the requirement gives a scanner to read such a block another way. */
const PATIENCE = { timeout: 60_000, interval: 100 }
/** How a node says that it gave up. */
const TOO_MANY_LOGS: RpcAnswer = { error: { code: -32_005, message: 'query returned more than 10000 results' } }

async function mined(request: object): Promise<string> {
  const [from] = (await stage.chain.rpc('eth_accounts', [])) as string[]
  return (await stage.chain.rpc('eth_sendTransaction', [{ from, ...request }])) as string
}

const untilPast = (height: number) =>
  vi.waitFor(async () => expect((await stage.cursor())?.height).toBeGreaterThanOrEqual(height), PATIENCE)
const untilHeadSoon = async () => untilPast(await stage.height())
const sent = (amount: bigint | number) => ({ key: expect.stringMatching(/:n$/), amount: String(amount) })

/** A scanner that reads through a node that lies about the blocks of `heights`. */
function scanThrough(url: string) {
  return stage.scan(source(clientOf([url])))
}

/** The next block, in which a contract pays 5 wei to the watched address and 7 are sent to it. */
async function mineTwoPayments(): Promise<number> {
  await send(7n, WATCHED.address)
  await send(5n)
  await stage.chain.mine()
  return await stage.height()
}

describe('a block that is too large for a node', () => {
  it.each<[string, Lie]>(
    sampleOf(
      [
        ['its logs', ({ method }, truth) => (method === 'eth_getLogs' ? TOO_MANY_LOGS : truth)],
        [
          'its body',
          ({ method, params }, truth) =>
            method === 'eth_getBlockByNumber' && params[1] === true ? { status: 413 } : truth,
        ],
      ],
      1,
    ),
  )('is read in parts: %s', async (_what, lie) => {
    await waitForEther()
    const url = await lying(lie)
    scanThrough(url)
    await untilHeadSoon()
    const height = await mineTwoPayments()
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 1_500_000n })
    await stage.chain.mine()
    await untilHeadSoon()
    expect(await stage.payments()).toMatchObject([
      { ...sent(7), height },
      { ...increase(5n), height },
      { key: expect.stringMatching(/:t:/), amount: '1500000', height: height + 1 },
    ])
  })

  it('with receipts that lack its logs is not passed', async () => {
    await stage.chain.pay({ asset: 'usdt_ethereum', to: WATCHED.address, amountBase: 1_500_000n })
    await stage.chain.mine()
    const height = await stage.height()
    const url = await lying(({ method }, truth) => {
      if (method === 'eth_getLogs') return TOO_MANY_LOGS
      if (method !== 'eth_getTransactionReceipt') return truth
      return { result: { ...(truth.result as object), logs: [] } }
    })
    const watches = stage.source().createIndex()
    watches.add(WATCHED.matchKey)
    await expect(clientOf([url]).scan(height, height, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height, reason: expect.stringContaining('lack logs') },
    })
  })
})

describe('a transaction of a form that nobody knows yet', () => {
  const odd = { hash: '0x1', type: '0x99' }
  let hash: string
  const hides: Lie = ({ method, params }, truth) => {
    if (method === 'eth_getTransactionByHash') return params[0] === hash ? { result: odd } : truth
    if (method !== 'eth_getBlockByNumber' || params[1] !== true) return truth
    const block = truth.result as { transactions: { hash: string }[] }
    return { result: { ...block, transactions: block.transactions.map((one) => (one.hash === hash ? odd : one)) } }
  }

  it('is passed when it moved nothing of ours', async () => {
    await waitForEther()
    hash = await mined({ to: `0x${'e1'.repeat(20)}`, value: '0x3', gas: '0x5208' })
    await send(7n, WATCHED.address)
    await stage.chain.mine()
    scanThrough(await lying(hides))
    await untilHeadSoon()
    expect(await stage.payments()).toMatchObject([{ ...sent(7), height: await stage.height() }])
  })

  // Guarantee: an increase now and the direct transfer from another node later would be the same money twice.
  it('is not passed when a balance of ours moved by more than the others show', async () => {
    await waitForEther()
    hash = await mined({ to: WATCHED.address, value: '0x3', gas: '0x5208' })
    const height = await mineTwoPayments()
    const client = clientOf([await lying(hides)])
    const watches = stage.source().createIndex()
    watches.add(WATCHED.matchKey)
    await expect(client.scan(height, height, watches)).rejects.toMatchObject({ name: 'BlockUnreadable' })
    await expect(client.scan(height, height, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height, reason: expect.stringContaining(hash) },
    })
  })

  it('is not passed when our key sent as much on in the same block, so that the balance is what it was', async () => {
    await waitForEther()
    const value = 10n ** 17n
    const gasPrice = 10n ** 10n
    await send(2n * value, WATCHED.address)
    await stage.chain.mine()
    hash = await mined({ to: WATCHED.address, value: `0x${value.toString(16)}`, gas: '0x5208' })
    const [to] = (await stage.chain.rpc('eth_accounts', [])) as string[]
    const fees = { gas: '0x5208', gasPrice: `0x${gasPrice.toString(16)}` }
    await mined({ from: WATCHED.address, to, value: `0x${(value - 21_000n * gasPrice).toString(16)}`, ...fees })
    await stage.chain.mine()
    const height = await stage.height()
    const client = clientOf([await lying(hides)])
    const watches = stage.source().createIndex()
    watches.add(WATCHED.matchKey)
    await expect(client.scan(height, height, watches)).rejects.toMatchObject({ name: 'BlockUnreadable' })
    await expect(client.scan(height, height, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height, reason: expect.stringContaining(hash) },
    })
  })

  // Guarantee: balances of the newest block prove nothing about an older one.
  it('is not passed because a node answers with its newest balances at both ends', async () => {
    await waitForEther()
    hash = await mined({ to: WATCHED.address, value: '0x3', gas: '0x5208' })
    const height = await mineTwoPayments()
    await stage.chain.mine(3)
    const node = await startWorldNode(await lying(hides), { ...HONEST, ignoresHashes: true })
    onTestFinished(() => node.close())
    const watches = stage.source().createIndex()
    watches.add(WATCHED.matchKey)
    const client = clientOf([node.url])
    await expect(client.scan(height, height, watches)).rejects.toMatchObject({ name: 'BlockUnreadable' })
    await expect(client.scan(height, height, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height, reason: expect.stringContaining(hash) },
    })
  })
})
