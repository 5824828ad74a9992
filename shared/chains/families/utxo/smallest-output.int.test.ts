import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LitecoinNode, startLitecoinNode } from '#dev/local-chain/litecoin-node.ts'
import { createCatalog } from '#shared/chains/catalog.ts'

const { dustBase } = createCatalog({ live: {}, test: {} }).asset('ltc_litecoin')
let node: LitecoinNode
beforeAll(async () => {
  node = await startLitecoinNode({ blockTimeMs: null })
})
afterAll(() => node.stop())

const hash = () => randomBytes(20).toString('hex')

// Guarantee: the least rest that a payer is asked for is one that the node relays, whatever kind of address it goes to.
it.each([
  ['P2PKH', `76a914${hash()}88ac`, 5_460n],
  ['P2SH', `a914${hash()}87`, 5_400n],
  ['P2WPKH', `0014${hash()}`, 2_940n],
])('relays our least amount to %s, and its own limit is not above it', async (_, to, limitBase) => {
  expect(dustBase).toBeGreaterThanOrEqual(limitBase)
  expect(await node.pay([{ to, amountBase: dustBase }])).toMatch(/^[0-9a-f]{64}$/)
  expect(await node.pay([{ to, amountBase: limitBase }])).toMatch(/^[0-9a-f]{64}$/)
  await expect(node.pay([{ to, amountBase: limitBase - 1n }])).rejects.toThrow(/too small/)
  await expect(node.pay([{ to, amountBase: 1n }])).rejects.toThrow(/too small/)
})
