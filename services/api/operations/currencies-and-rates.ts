import { currencyResource } from '#shared/contracts/http/currency-resource.ts'
import { estimateBody, estimateResource } from '#shared/contracts/http/estimate.ts'
import { rateListQuery, rateResource } from '#shared/contracts/http/rate-resource.ts'
import {
  currencyExample,
  estimateCreateExample,
  estimateExample,
  rateExample,
} from '#shared/contracts/openapi/examples/money.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { listCurrencies } from '#shared/usecases/quotes/availability.ts'
import { estimateAmount } from '#shared/usecases/quotes/estimate-amount.ts'
import { listRates } from '#shared/usecases/rates/list-rates.ts'
import { defineOperation, wholeList } from '../define-operation.ts'

/** Currencies and rates, in the order of the reference. */
export const currencyAndRateOperations = [
  /** Every supported asset, and whether the workspace can receive it now. */
  defineOperation({
    method: 'GET',
    path: '/currencies',
    operationId: 'listCurrencies',
    tag: 'Currencies and rates',
    summary: 'List currencies',
    description: 'Every supported asset, and whether this workspace can receive it now.',
    scope: 'rates:read',
    success: {
      status: 200,
      description: 'Every supported asset.',
      resource: currencyResource,
      envelope: 'CurrencyListResponse',
      listMax: ASSET_IDS.length,
      example: currencyExample,
    },
    handle: async (deps, { workspace, mode }) => wholeList(await listCurrencies(deps, { workspace, mode })),
  }),

  /** The fresh rates; 503 when there is none. */
  defineOperation({
    method: 'GET',
    path: '/rates',
    operationId: 'listRates',
    tag: 'Currencies and rates',
    summary: 'List rates',
    description:
      'The current price of one unit of each asset. Assets without a current rate are left out; without any rate, the response is ' +
      '`RATES_UNAVAILABLE`.',
    scope: 'rates:read',
    query: rateListQuery,
    success: {
      status: 200,
      description: 'Fresh rates.',
      resource: rateResource,
      envelope: 'RateListResponse',
      listMax: ASSET_IDS.length,
      example: rateExample,
    },
    errors: ['RATES_UNAVAILABLE'],
    handle: async (deps, { workspace, mode, query: { fiat, asset = null } }) =>
      wholeList(await listRates(deps, { workspace, mode, fiat, asset })),
  }),

  /** The amount at the current rate; no quote is created. 503 without a fresh rate. */
  defineOperation({
    method: 'POST',
    path: '/estimate',
    operationId: 'createEstimate',
    tag: 'Currencies and rates',
    summary: 'Estimate an amount',
    description: 'Converts a fiat price to an asset at the current rate. Nothing is locked.',
    scope: 'rates:read',
    body: { schema: estimateBody, example: estimateCreateExample },
    success: {
      status: 200,
      description: 'The estimate.',
      resource: estimateResource,
      envelope: 'EstimateResponse',
      listMax: null,
      example: estimateExample,
    },
    errors: ['RATES_UNAVAILABLE'],
    handle: estimateAmount,
  }),
]
