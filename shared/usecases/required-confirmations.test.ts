import { expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { attributeTransfers } from './attribute-transfers.ts'
import { requiredConfirmations } from './required-confirmations.ts'

const catalog = createCatalog({ live: {}, test: {} })
const asked = (asset: 'btc_bitcoin' | 'eth_ethereum', stored: unknown) =>
  requiredConfirmations(catalog, { confirmations: { [asset]: stored } as never }, asset, 'live')

it('takes the figure of the workspace, else that of the network', () => {
  expect(asked('btc_bitcoin', 4)).toEqual({ confirmations: 4, finality: false })
  expect(asked('btc_bitcoin', undefined)).toEqual({ confirmations: 2, finality: false })
  expect(asked('eth_ethereum', 'finalized')).toEqual({ confirmations: 12, finality: true })
})

// Guarantee: what was stored before it was checked neither credits at once nor blocks every payment.
it.each([0, -1, 2.5, Number.NaN, '3', null, 'finalized'])('a stored %s for Bitcoin counts as not given', (stored) => {
  expect(asked('btc_bitcoin', stored)).toEqual({ confirmations: 2, finality: false })
})

it('a lock that was frozen with such a figure is met by a block that can be had', async () => {
  const lock = {
    asset: 'btc_bitcoin',
    network: 'bitcoin',
    matchKey: 'aa',
    claim: 'live:bitcoin:aa',
    from: 0,
    requiredConfirmations: 0,
    needsFinality: true,
  }
  const holder = { invoiceId: 'i', workspaceId: 'w', locks: [lock] }
  const invoices = { findByClaims: async () => [holder] as never, findByReferences: async () => [] }
  const transfer = {
    key: 'live:bitcoin:t:0',
    matchKey: 'aa',
    toAddress: 'a',
    fromAddress: null,
    asset: 'btc_bitcoin',
    contract: null,
    amountBase: 1n,
    txHash: 't',
    outputIndex: 0,
  } as const
  const found = [{ transfer, block: null, seenAt: 1 }]
  const sightings = await attributeTransfers({ invoices, catalog }, { mode: 'live', network: 'bitcoin', found })
  expect(sightings).toMatchObject([{ invoiceId: 'i', requiredConfirmations: 1, needsFinality: false }])
})
