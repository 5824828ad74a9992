import { describe, expect, it } from 'vitest'
import {
  type Answer,
  blocks,
  EXPECTED,
  infos,
  type Lie,
  summary,
  unreliable,
  useTronNodes,
  watches,
  when,
} from '#test/support/tron-nodes.ts'

const { at, client, liar } = useTronNodes()

describe('a node that lies about a block', () => {
  it('is told by the block, its id and the call', async () => {
    const reader = client([await liar(infos(() => []))])
    await expect(reader.scan(2, 2, watches)).rejects.toMatchObject({
      name: 'BlockUnreadable',
      block: { height: 2, hash: expect.any(String), method: 'wallet/gettransactioninfobyblocknum' },
    })
  })

  it('passes for honest as long as it changes nothing', async () => {
    const url = await liar((truth) => blocks((block) => block)(truth) ?? infos((list) => list)(truth))
    expect(await summary(client([url]))).toEqual(EXPECTED)
  })

  // Guarantee: a doubtful answer stops the scan, so the cursor cannot pass money by and nothing false is credited.
  it.each<[string, Lie]>([
    ['has no infos for transactions', infos(() => [])],
    ['answers infos with nothing', infos(() => ({}))],
    ['keeps an info back', infos((list) => list.slice(1))],
    ['gives an info twice', infos((list) => [...list, ...list])],
    ['gives infos of another block', infos((list) => list.map((info) => ({ ...info, blockNumber: 1 })))],
    ['calls a success a failure', infos((list) => list.map((info) => ({ ...info, result: 'FAILED' })))],
    [
      'gives a log of 19 bytes',
      infos((list) => list.map((info) => ({ ...info, log: [{ address: '00'.repeat(19) }] }))),
    ],
    ['lacks a block below its head', blocks((block, { num }) => (num === 2 ? {} : block))],
    ['keeps a transaction back', blocks((block) => ({ ...block, transactions: [] }))],
    [
      'gives the block of another height',
      blocks((block) => ({ ...block, blockID: `${'0'.repeat(16)}${'1'.repeat(48)}` })),
    ],
    [
      'gives another number than the id says',
      blocks((block) => {
        const header = block['block_header'] as { raw_data: Answer }
        return { ...block, block_header: { raw_data: { ...header.raw_data, number: 4 } } }
      }),
    ],
    [
      'gives blocks that are not linked',
      blocks((block, { num }) => {
        const header = block['block_header'] as { raw_data: Answer }
        return num === 2
          ? { ...block, block_header: { raw_data: { ...header.raw_data, parentHash: '1'.repeat(64) } } }
          : block
      }),
    ],
    [
      'changes a transaction under its id',
      blocks((block) => {
        const [first, ...rest] = (block['transactions'] ?? []) as Answer[]
        return first === undefined ? block : { ...block, transactions: [{ ...first, raw_data_hex: '0a02' }, ...rest] }
      }),
    ],
    ['answers in another shape', blocks(() => ({ blockID: 7 }))],
    ['cuts an answer off', ({ text, params }) => (params['num'] === 0 ? undefined : text.slice(0, text.length / 2))],
    ['answers with a page', ({ params }) => (params['num'] === 0 ? undefined : '<html>busy</html>')],
    ['answers nothing', ({ params }) => (params['num'] === 0 ? undefined : '')],
    ['refuses', ({ params }) => (params['num'] === 0 ? undefined : { Error: 'class java.lang.Exception : busy' })],
  ])('%s: the scan throws', async (_what, lie) => {
    await expect(client([await liar(lie)]).scan(0, 5, watches)).rejects.toEqual(unreliable)
  })
})

describe('a node that lies about its head', () => {
  it.each<[string, Lie]>([
    [
      'has a head with another number in its id',
      when('/wallet/getnowblock', (json) => ({ ...json, blockID: 'f'.repeat(64) })),
    ],
    ['has no head', when('/wallet/getnowblock', () => ({}))],
    ['has no solid head', when('/walletsolidity/getnowblock', () => ({}))],
    ['fails at its solid head', when('/walletsolidity/getnowblock', () => ({ Error: 'busy' }))],
  ])('%s: its head is not taken', async (_what, lie) => {
    // Guarantee: nothing is confirmed on the word of a node that contradicts itself.
    await expect(client([await liar(lie)]).head()).rejects.toEqual(unreliable)
  })

  const readBlockOne = async () => (await fetch(`${at.node.url}/wallet/getblockbynum?num=1`)).json()

  // Guarantee: no payment is final above the head, and back ends that are blocks apart are no fault.
  it('has a solid block above it: finality ends at the head', async () => {
    const blockOne = await readBlockOne()
    const url = await liar(when('/wallet/getnowblock', () => blockOne))
    expect(await client([url]).head()).toMatchObject({ height: 1, finalizedHeight: 1 })
  })

  it('and about what it has at a height', async () => {
    const blockOne = await readBlockOne()
    const url = await liar(blocks(() => blockOne))
    await expect(client([url]).blockAt(2)).rejects.toEqual(unreliable)
  })
})
