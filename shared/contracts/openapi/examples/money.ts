import type { z } from 'zod'
import type { CurrencyResource } from '#shared/contracts/http/currency-resource.ts'
import type { EstimateResource, estimateBody } from '#shared/contracts/http/estimate.ts'
import type { RateResource } from '#shared/contracts/http/rate-resource.ts'
import { EXAMPLE } from './ids.ts'

/** An asset that the workspace can receive. */
export const currencyExample: CurrencyResource = {
  id: 'usdc_base',
  object: 'currency',
  livemode: true,
  symbol: 'USDC',
  network: 'base',
  name: 'USD Coin on Base',
  decimals: 6,
  contract_address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  min_amount: '0.5',
  confirmations: 10,
  available: true,
  unavailable_reason: null,
  watched: true,
  created_at: EXAMPLE.createdAt,
  updated_at: EXAMPLE.createdAt,
}

/** The value of one USDC. */
export const rateExample: RateResource = {
  object: 'rate',
  livemode: true,
  asset: 'usdc_base',
  symbol: 'USDC',
  network: 'base',
  fiat: 'USD',
  fiat_per_asset: '0.9998',
  sources: 5,
  created_at: '2026-10-01T11:59:41.000Z',
  updated_at: '2026-10-01T11:59:38.000Z',
  expires_at: '2026-10-01T12:01:38.000Z',
}

/** The price of 49.90 USD in USDC. */
export const estimateExample: EstimateResource = {
  object: 'estimate',
  livemode: true,
  asset: 'usdc_base',
  network: 'base',
  symbol: 'USDC',
  fiat: { value: '49.90', currency: 'USD', minor: 4990 },
  amount: '49.91',
  amount_base_units: '49910000',
  decimals: 6,
  fiat_per_asset: '0.9998',
  min_amount: '0.5',
  rate_updated_at: '2026-10-01T11:59:38.000Z',
  created_at: EXAMPLE.createdAt,
  updated_at: EXAMPLE.createdAt,
}

/** The request behind it. */
export const estimateCreateExample: z.input<typeof estimateBody> = {
  amount: '49.90',
  currency: 'USD',
  asset: 'usdc_base',
}
