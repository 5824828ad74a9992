import { describe, expect, it } from 'vitest'
import {
  AMOUNT,
  type Call,
  chain,
  honest,
  idOf,
  type Lie,
  unreliable,
  useDogecoinNodes,
  watches,
  when,
} from '#test/support/dogecoin-nodes.ts'

const { serve, open } = useDogecoinNodes()

describe('Dogecoin Core with a boolean-only getblock', () => {
  it('is read exactly, merged-mined blocks included, and asked in its own way from then on', async () => {
    const calls: Call[] = []
    const client = open([await serve(honest, calls)])
    await client.verify()
    const blocks = await client.scan(0, 2, watches)
    expect(blocks.flatMap(({ transfers }) => transfers.map(({ amountBase }) => amountBase))).toEqual([AMOUNT])
    expect(blocks.map(({ hash }) => hash)).toEqual([idOf(0), idOf(1), idOf(2)])
    expect(await client.head()).toEqual({ height: 2, hash: idOf(2), finalizedHeight: null })
    expect(await client.blockAt(2)).toMatchObject({ hash: idOf(2), parentHash: idOf(1), time: 1_700_000_002_000 })
    calls.length = 0
    await client.scan(2, 2, watches)
    expect(calls.filter(({ method }) => method === 'getblock').map(({ params }) => params[1])).toEqual([false])
  })

  /** A node that gives no block whole and finds mined transactions in its index. */
  const indexed: Lie = (call, truth) => {
    const mined = chain.flatMap(({ transactions }) => transactions ?? [])
    const found = mined.find((one) => one.getId() === call.params[0])
    if (call.method === 'getblock' && typeof call.params[1] === 'boolean') return 'Work queue depth exceeded'
    if (call.method !== 'getrawtransaction' || found === undefined || call.params.length > 1) return truth
    return { result: Buffer.from(found.toBuffer()).toString('hex') }
  }

  it('that gives no block whole is read transaction by transaction where it has an index', async () => {
    const calls: Call[] = []
    const client = open([await serve(indexed, calls)])
    await expect(client.scan(2, 2, watches)).rejects.toMatchObject({ block: { height: 2, method: 'getblock' } })
    const [block] = await client.scan(2, 2, watches)
    expect(block).toMatchObject({ hash: idOf(2), parentHash: idOf(1) })
    expect(block?.transfers).toMatchObject([{ amountBase: AMOUNT, txHash: chain[2]?.transactions?.[1]?.getId() }])
    const forms = calls.filter(({ method }) => method === 'getrawtransaction').map(({ params }) => params.length)
    expect(forms.lastIndexOf(3)).toBeLessThan(forms.lastIndexOf(1))
  })

  it('that gives no block whole and has no index is named with the reason, and another node is asked', async () => {
    const unindexed: Lie = (call, truth) => (call.method === 'getrawtransaction' ? truth : indexed(call, truth))
    const urls = [await serve(unindexed), await serve(unindexed)]
    const client = open(urls)
    await expect(client.scan(2, 2, watches)).rejects.toMatchObject({ block: { height: 2, method: 'getblock' } })
    await expect(client.scan(2, 2, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height: 2, hash: idOf(2), method: 'getrawtransaction', reason: expect.stringContaining('-txindex') },
    })
    const helped = open([await serve(unindexed), await serve(indexed)])
    await expect(helped.scan(2, 2, watches)).rejects.toMatchObject({ block: { height: 2 } })
    expect((await helped.scan(2, 2, watches))[0]?.transfers).toMatchObject([{ amountBase: AMOUNT }])
  })

  it('that lacks a height is not asked elsewhere, it has answered', async () => {
    const calls: Call[] = []
    const client = open([await serve(honest, calls), await serve(() => 'never asked')])
    expect(await client.blockAt(3)).toBeNull()
    expect(await client.blockAt(1)).toMatchObject({ hash: idOf(1) })
  })
})

describe('a node that hears of no transactions', () => {
  const isolated = when('getconnectioncount', () => ({ result: 0 }))
  const downloading = when('getblockchaininfo', (truth) => ({
    result: { ...('result' in truth ? (truth.result as object) : {}), initialblockdownload: true },
  }))
  const look = async (urls: string[], genesis?: string) => open(urls, genesis).mempool?.(watches, new Set())

  // Guarantee: no deadline passes because of a mempool that cannot hold the payment.
  it.each([
    ['has no peers', isolated],
    ['has not the whole chain yet', downloading],
  ])('because it %s is left for another one, and shows nothing where it is alone', async (_what, lie) => {
    await expect(look([await serve(lie)])).rejects.toEqual(unreliable)
    expect(await look([await serve(lie), await serve(honest)])).toMatchObject({ partial: false })
  })

  it.each([
    ['has peers', when('getconnectioncount', () => ({ result: 8 }))],
    ['does not say', honest],
    ['may not say', when('getconnectioncount', () => 'forbidden')],
  ])('is not one that %s', async (_what, lie) => {
    expect(await look([await serve(lie)])).toMatchObject({ partial: false })
  })

  it('is one that fails to say', async () => {
    const url = await serve(when('getconnectioncount', () => 'Work queue depth exceeded'))
    await expect(look([url])).rejects.toEqual(unreliable)
  })

  it('is nothing strange on a local chain', async () => {
    expect(await look([await serve(isolated)], 'any')).toMatchObject({ partial: false })
  })
})

describe('a second node', () => {
  const payment = { txHash: 'ab'.repeat(32), height: 1, blockHash: idOf(1) }
  const disputedBy = async (lie: Lie) => {
    const reader = open([await serve(honest), await serve(lie)])
    await reader.scan(1, 2, watches)
    return reader.disputed?.([payment, { ...payment, txHash: 'cd', height: 2 }])
  }

  // Guarantee: what only one node says confirms nothing where there is another one to ask.
  it('doubts what it has in no such block', async () => {
    expect(await disputedBy(honest)).toEqual(new Set(['cd']))
    expect(
      await disputedBy(when('getblockhash', (truth, { params }) => (params[0] === 1 ? { result: idOf(2) } : truth))),
    ).toEqual(new Set([payment.txHash, 'cd']))
  })

  it('that is silent or behind leaves the question open', async () => {
    await expect(disputedBy(() => 'out of order')).rejects.toEqual(unreliable)
    const behind = { result: { blocks: 0, bestblockhash: idOf(0) } }
    await expect(disputedBy(when('getblockchaininfo', () => behind))).rejects.toEqual(unreliable)
  })

  it('is not needed, and one of another chain is none', async () => {
    expect(await open([await serve(honest)]).disputed?.([payment])).toEqual(new Set())
    const foreign = when('getblockhash', (truth, { params }) => (params[0] === 0 ? { result: idOf(1) } : truth))
    expect(await disputedBy(foreign)).toEqual(new Set())
  })
})
