import { expect, it } from 'vitest'
import { createCatalog } from '#shared/chains/catalog.ts'
import { attributeTransfers } from '#shared/usecases/payments/attribute-transfers.ts'
import { standIn } from '#test/support/stand-in.ts'
import { baseConfirmations, checkedConfirmations, requiredConfirmations } from './price-quote.ts'

const catalog = createCatalog({ live: {}, test: {} })
type Asset = 'btc_bitcoin' | 'eth_ethereum' | 'ltc_litecoin' | 'usdt_tron'
const of = (asset: Asset, stored: unknown) => ({
  policy: { confirmations: { [asset]: stored } as never },
  asset,
  mode: 'live' as const,
})
const dollars = (amount: bigint) => ({ fiat: { minor: amount * 100n, currency: 'USD' as const }, fiatPerUsd: '1' })
const confirmationsFor = (asset: Asset, stored: unknown, amount = 500n) =>
  requiredConfirmations(catalog, of(asset, stored), dollars(amount))
const count = (confirmations: number) => ({ confirmations, finality: false })

it('asks by default for more the more an invoice is worth, and never for less than is usual above 100 USD', () => {
  const figures = [99n, 100n, 9_999n, 10_000n, 100_000n].map((amount) =>
    confirmationsFor('btc_bitcoin', undefined, amount),
  )
  expect(figures).toEqual([1, 2, 2, 3, 6].map(count))
  expect(confirmationsFor('ltc_litecoin', undefined, 10_000n)).toEqual(count(12))
  expect(confirmationsFor('eth_ethereum', undefined, 9_999n)).toEqual(count(12))
  expect(confirmationsFor('eth_ethereum', undefined, 10_000n)).toEqual({ confirmations: 12, finality: true })
  expect(confirmationsFor('usdt_tron', undefined, 1_000_000n)).toEqual(count(19))
})

it('takes a table of the workspace for that of the network', () => {
  const tiers = [
    { fromUsd: 0, confirmations: 3 },
    { fromUsd: 1_000, confirmations: 9 },
  ]
  expect(confirmationsFor('btc_bitcoin', tiers, 999n)).toEqual(count(3))
  expect(confirmationsFor('btc_bitcoin', tiers, 1_000n)).toEqual(count(9))
  expect(requiredConfirmations(catalog, of('btc_bitcoin', tiers), null)).toEqual(count(9))
})

it('takes a figure that an installation sets for a network for every value', () => {
  const local = createCatalog({ live: { bitcoin: { rpcUrls: [], confirmations: 4 } }, test: {} } as never)
  expect(requiredConfirmations(local, of('btc_bitcoin', undefined), dollars(1n))).toEqual(count(4))
  expect(requiredConfirmations(local, of('btc_bitcoin', undefined), dollars(1_000_000n))).toEqual(count(4))
})

it('lists an asset with the base figure, or with the lowest tier of the workspace', () => {
  expect(baseConfirmations(catalog, of('btc_bitcoin', undefined))).toBe(2)
  expect(baseConfirmations(catalog, of('btc_bitcoin', 7))).toBe(7)
  const tiers = [
    { fromUsd: 0, confirmations: 5 },
    { fromUsd: 50, confirmations: 9 },
  ]
  expect(baseConfirmations(catalog, of('btc_bitcoin', tiers))).toBe(5)
  expect(baseConfirmations(catalog, of('eth_ethereum', 'finalized'))).toBe(12)
})

it('names each asset whose table cannot be asked for', () => {
  const finalized = [{ fromUsd: 0, confirmations: 'finalized' as const }]
  const lower = [
    { fromUsd: 0, confirmations: 5 },
    { fromUsd: 50, confirmations: 1 },
  ]
  expect(() => checkedConfirmations(catalog, { btc_bitcoin: finalized, eth_ethereum: lower })).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_ERROR',
      details: [
        { path: 'policy.confirmations.btc_bitcoin', message: 'This network has no final blocks.' },
        { path: 'policy.confirmations.eth_ethereum', message: 'A higher tier must not require fewer confirmations.' },
      ],
    }),
  )
})

it('takes the figure of the workspace, else that of the network', () => {
  expect(confirmationsFor('btc_bitcoin', 4)).toEqual({ confirmations: 4, finality: false })
  expect(confirmationsFor('btc_bitcoin', undefined)).toEqual({ confirmations: 2, finality: false })
  expect(confirmationsFor('eth_ethereum', 'finalized')).toEqual({ confirmations: 12, finality: true })
})

// Guarantee: what was stored before it was checked neither credits at once nor blocks every payment.
it.each([0, -1, 2.5, Number.NaN, '3', null, 'finalized', [], [{}], [{ fromUsd: 5, confirmations: 1 }]])(
  'a stored %j for Bitcoin counts as not given',
  (stored) => {
    expect(confirmationsFor('btc_bitcoin', stored)).toEqual({ confirmations: 2, finality: false })
  },
)

it('a lock that was frozen with such a figure is met by a block that can be had', async () => {
  const paymentMethod = {
    asset: 'btc_bitcoin',
    network: 'bitcoin',
    matchKey: 'aa',
    claim: 'live:bitcoin:aa',
    from: 0,
    requiredConfirmations: 0,
    needsFinality: true,
  }
  const holder = { invoiceId: 'i', workspaceId: 'w', paymentMethods: [paymentMethod] }
  const invoices = { findByClaims: async () => [holder] as never, findByReferences: async () => [] }
  const wallets = { findAddresses: async () => [], findProofs: async () => new Map() }
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
  const observations = await attributeTransfers(
    { invoices: standIn(invoices), wallets: standIn(wallets), catalog },
    { mode: 'live', network: 'bitcoin', found },
  )
  expect(observations).toMatchObject([{ invoiceId: 'i', requiredConfirmations: 1, needsFinality: false }])
})
