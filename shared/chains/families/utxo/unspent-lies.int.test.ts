import { expect, it } from 'vitest'
import { idOf, type Lie, SCRIPT, useDogecoinNodes, when } from '#test/support/dogecoin-nodes.ts'

const { serve, open } = useDogecoinNodes()
const REAL = { txid: 'a'.repeat(64), vout: 0, scriptPubKey: SCRIPT, amount: 5, height: 2, coinbase: true }

/** A node that shows these unspent outputs. */
const showing = (...unspents: object[]): Lie =>
  when('scantxoutset', () => ({ result: { success: true, height: 2, bestblock: idOf(2), unspents } }))

async function transfers(...nodes: Lie[]) {
  const urls = await Promise.all(nodes.map((lie) => serve(lie)))
  const blocks = await open(urls).unspent?.([SCRIPT], { from: 1, to: 2 })
  return blocks?.flatMap((block) => block.transfers.map(({ txHash, amountBase }) => `${txHash[0]} ${amountBase}`))
}

// Guarantee: of skipped blocks only what each node shows is credited. No hash proves an output, and a second opinion is about its block alone.
it.each<[string, Lie]>([
  ['another output', showing(REAL, { ...REAL, txid: 'b'.repeat(64) })],
  ['another amount of one', showing(REAL, { ...REAL, vout: 1, amount: 50 })],
  ['one of another block', showing(REAL, { ...REAL, vout: 1, height: 1 })],
])('takes nothing from a node that invents %s', async (_what, liar) => {
  const honest = showing(REAL, { ...REAL, vout: 1, amount: 7 })
  const real = showing(REAL)
  expect(await transfers(liar, real)).toEqual(['a 500000000'])
  expect(await transfers(real, liar)).toEqual(['a 500000000'])
  expect(await transfers(honest, liar)).toEqual(['a 500000000'])
  expect(await transfers(honest)).toHaveLength(2)
})

it('takes nothing from one node while the others do not answer', async () => {
  const silent = when('scantxoutset', () => ({ error: { code: -8, message: 'Scan already in progress' } }))
  await expect(transfers(showing(REAL), silent)).rejects.toThrow('only one node searched the unspent outputs')
  await expect(transfers(silent, showing(REAL))).rejects.toThrow('only one node searched the unspent outputs')
  expect(await transfers(showing(REAL), silent, showing(REAL))).toEqual(['a 500000000'])
})

it('takes the later spending of a coinbase from the node that reports it', async () => {
  const { coinbase: _, ...silent } = REAL
  const urls = [await serve(showing(silent)), await serve(showing(REAL))]
  const blocks = await open(urls).unspent?.([SCRIPT], { from: 1, to: 2 })
  expect(blocks).toMatchObject([{ height: 2, transfers: [{ minConfirmations: expect.any(Number) }] }])
})
