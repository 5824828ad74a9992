import { currencyResource } from '#shared/contracts/http/currency-resource.ts'
import { estimateBody, estimateResource } from '#shared/contracts/http/estimate.ts'
import { paymentListQuery } from '#shared/contracts/http/list-query.ts'
import { paymentResource } from '#shared/contracts/http/payment-resource.ts'
import { rateListQuery, rateResource } from '#shared/contracts/http/rate-resource.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { currencyExample, estimateCreateExample, estimateExample, rateExample } from './examples/money.ts'
import { confirmedPayment } from './examples/payment.ts'
import type { Operation } from './operation.ts'

/** Operations on what arrives, what can be received and what it is worth. */
export const MONEY_OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/payments',
    operationId: 'listPayments',
    tag: 'Payments',
    summary: 'List payments',
    description: "A page of the transfers for invoices of the key's mode, newest first.",
    scope: 'payments:read',
    query: paymentListQuery,
    success: {
      status: 200,
      description: 'A page of payments.',
      resource: paymentResource,
      envelope: 'PaymentListResponse',
      listMax: 100,
      example: confirmedPayment,
    },
    errors: [],
  },
  {
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
    errors: [],
  },
  {
    method: 'GET',
    path: '/rates',
    operationId: 'listRates',
    tag: 'Currencies and rates',
    summary: 'List rates',
    description:
      'What one unit of each asset is worth now. An asset without a fresh rate is left out; without any, the answer is ' +
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
  },
  {
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
  },
]
