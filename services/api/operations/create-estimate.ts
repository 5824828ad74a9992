import { estimateBody, estimateResource } from '#shared/contracts/http/estimate.ts'
import { estimateCreateExample, estimateExample } from '#shared/contracts/openapi/examples/money.ts'
import { estimateAmount } from '#shared/usecases/quotes/estimate-amount.ts'
import { defineOperation } from '../define-operation.ts'

/** The amount at the current rate; no quote is created. 503 without a fresh rate. */
export const createEstimateOperation = defineOperation({
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
  handle: (deps, { workspace, mode, body }) => estimateAmount(deps, { workspace, mode, body }),
})
