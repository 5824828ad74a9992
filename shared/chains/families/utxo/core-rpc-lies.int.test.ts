import { describe, expect, it } from 'vitest'
import {
  AMOUNT,
  bend,
  honest,
  idOf,
  type Lie,
  refusal,
  second,
  serialised,
  unreliable,
  useDogecoinNodes,
  watches,
  when,
} from '#test/support/dogecoin-nodes.ts'

const { serve, open } = useDogecoinNodes()

describe('a node that lies', () => {
  // Guarantee: a doubtful answer stops the scan, so the cursor cannot pass money by and nothing false is credited.
  it.each<[string, Lie]>([
    ['gives another block', when('getblock', () => ({ result: serialised(second) }))],
    ['cuts a block', when('getblock', (truth) => bend(truth, (hex) => hex.slice(0, -2)))],
    ['appends to a block', when('getblock', (truth) => bend(truth, (hex) => `${hex}00`))],
    [
      'leaves a transaction out',
      when('getblock', (truth) =>
        bend(truth, (hex) => hex.slice(0, hex.lastIndexOf('01000000')).replace(/02(?=01000000(?!.*01000000))/, '01')),
      ),
    ],
    [
      'raises an amount',
      when('getblock', (truth) => bend(truth, (hex) => hex.replace(/0100c16ff28623/, '0200c16ff28623'))),
    ],
    ['answers something other than hex', when('getblock', (truth) => bend(truth, (hex) => `zz${hex}`))],
    ['answers null', when('getblock', () => ({ result: null }))],
    ['has lost the block', when('getblock', () => refusal(-5, 'Block not found'))],
    ['has pruned the block', when('getblock', () => refusal(-1, 'Block not available (pruned data)'))],
    [
      'is still starting',
      when('getblockhash', (truth, { params }) => (params[0] === 0 ? truth : refusal(-28, 'Loading block index...'))),
    ],
    ['is overloaded', when('getblock', () => 'Work queue depth exceeded')],
    [
      'lacks a height below its head',
      when('getblockhash', (truth, { params }) => (params[0] === 1 ? refusal(-8, 'Block height out of range') : truth)),
    ],
    [
      'repeats a block at another height',
      when('getblockhash', (truth, { params }) => (params[0] === 2 ? { result: idOf(1) } : truth)),
    ],
    [
      'gives a hash of another form',
      when('getblockhash', (truth, { params }) => (params[0] === 2 ? { result: '0x12' } : truth)),
    ],
  ])('%s: the scan throws', async (_what, lie) => {
    await expect(open([await serve(lie)]).scan(0, 2, watches)).rejects.toEqual(unreliable)
  })

  // Guarantee: only a block that is dropped for good may be skipped; nodes that answer so are not down.
  it.each([
    ['has pruned it', 'Block not available (pruned data)', true],
    ['has not downloaded it yet', 'Block not available (not fully downloaded)', false],
  ])('a block is gone for good only when a node %s', async (_what, message, isGone) => {
    const [one, other] = [
      await serve(when('getblock', () => refusal(-1, message))),
      await serve(when('getblock', () => refusal(-1, message))),
    ]
    const client = open([one, other])
    for (let turn = 0; turn < 8; turn += 1) {
      await expect(client.scan(1, 1, watches)).rejects.toMatchObject({ name: 'BlockUnreadable', isGone })
    }
    if (isGone) expect(client.silence?.().hosts).toEqual([])
  })

  it('about one block is told by its height, hash, call and words', async () => {
    const client = open([await serve(when('getblock', () => 'Work queue depth exceeded'))])
    await expect(client.scan(1, 1, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height: 1, hash: idOf(1), method: 'getblock', reason: expect.stringContaining('127.0.0.1') },
    })
  })

  it.each<[string, Lie]>([
    ['about its mempool', when('getrawmempool', () => ({ result: [7] }))],
    [
      'about a transaction in it',
      (call, truth) =>
        call.method === 'getrawtransaction'
          ? { result: 'zz' }
          : when('getrawmempool', () => ({ result: ['12'.repeat(32)] }))(call, truth),
    ],
  ])('%s: the look throws', async (_what, lie) => {
    await expect(open([await serve(lie)]).mempool?.(watches, new Set())).rejects.toEqual(unreliable)
  })

  it.each<[string, Lie]>([
    ['has no head', when('getblockchaininfo', () => ({ result: { blocks: -1, bestblockhash: 'none' } }))],
    ['gives another header', when('getblockheader', (truth) => bend(truth, (hex) => `ff${hex.slice(2)}`))],
  ])('%s: asking throws', async (_what, lie) => {
    const client = open([await serve(lie)])
    await expect(Promise.all([client.head(), client.blockAt(1)])).rejects.toEqual(unreliable)
  })

  it('is left for the next one', async () => {
    const liar = await serve(when('getblock', (truth) => bend(truth, (hex) => hex.slice(0, -2))))
    const blocks = await open([liar, await serve(honest)]).scan(0, 2, watches)
    expect(blocks.flatMap(({ transfers }) => transfers.map(({ amountBase }) => amountBase))).toEqual([AMOUNT])
  })
})
