import { expect, it } from 'vitest'
import { idOf, type Lie, SCRIPT, useDogecoinNodes, when } from '#test/support/dogecoin-nodes.ts'
import { usePassingTime } from '#test/support/passing-time.ts'

const { serve, open } = useDogecoinNodes()
const pass = usePassingTime()
const REAL = { txid: 'a'.repeat(64), vout: 0, scriptPubKey: SCRIPT, amount: 5, height: 2, coinbase: true }

/** A node that shows these unspent outputs. */
const showing = (...unspents: object[]): Lie =>
  when('scantxoutset', () => ({ result: { success: true, height: 2, bestblock: idOf(2), unspents } }))

const started = async (...nodes: Lie[]) => open(await Promise.all(nodes.map((lie) => serve(lie))))
const transfers = async (...nodes: Lie[]) => search(await started(...nodes))

async function search(client: ReturnType<typeof open>) {
  const blocks = await client.unspent?.([SCRIPT], { from: 1, to: 2 })
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

const SILENT = when('scantxoutset', () => ({ error: { code: -8, message: 'Scan already in progress' } }))

/** With a search in between, as the scanner repeats it. */
async function passTenMinutes(client: ReturnType<typeof open>): Promise<void> {
  pass(300_000)
  await expect(search(client)).rejects.toThrow('Scan already in progress')
  pass(300_000)
}

it('takes nothing from one node while the others do not answer', async () => {
  for (const nodes of [
    [showing(REAL), SILENT],
    [SILENT, showing(REAL)],
  ]) {
    await expect(transfers(...nodes)).rejects.toThrow('Scan already in progress')
    const client = await started(...nodes)
    await expect(search(client)).rejects.toThrow('Scan already in progress')
    await passTenMinutes(client)
    await expect(search(client)).rejects.toThrow('only one node searched the unspent outputs')
  }
})

// Guarantee: one node of three that fails for good ends no search, and one that conceals an output does not hide it.
it('takes what two of three nodes show, and waits ten minutes for the third', async () => {
  const client = await started(showing(REAL), SILENT, showing(REAL))
  await expect(search(client)).rejects.toThrow('Scan already in progress')
  await passTenMinutes(client)
  expect(await search(client)).toEqual(['a 500000000'])
  expect(await transfers(showing(REAL), showing(), showing(REAL))).toEqual(['a 500000000'])
  expect(await transfers(showing(REAL, REAL), showing(), showing())).toEqual([])
})

it('takes the later spending of a coinbase from the node that reports it', async () => {
  const { coinbase: _, ...silent } = REAL
  const urls = [await serve(showing(silent)), await serve(showing(REAL))]
  const blocks = await open(urls).unspent?.([SCRIPT], { from: 1, to: 2 })
  expect(blocks).toMatchObject([{ height: 2, transfers: [{ minConfirmations: expect.any(Number) }] }])
})
