import { rateListQuery, rateResource } from '#shared/contracts/http/rate-resource.ts'
import { rateExample } from '#shared/contracts/openapi/examples/money.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { listRates } from '#shared/usecases/rates/list-rates.ts'
import { defineOperation, wholeList } from '../define-operation.ts'

/** The fresh rates; 503 when there is none. */
export const listRatesOperation = defineOperation({
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
})
