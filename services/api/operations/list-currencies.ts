import { currencyResource } from '#shared/contracts/http/currency-resource.ts'
import { currencyExample } from '#shared/contracts/openapi/examples/money.ts'
import { ASSET_IDS } from '#shared/domain/enumerations.ts'
import { listCurrencies } from '#shared/usecases/quotes/availability.ts'
import { defineOperation, wholeList } from '../define-operation.ts'

/** Every supported asset, and whether the workspace can receive it now. */
export const listCurrenciesOperation = defineOperation({
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
  handle: async (deps, { workspace, mode }) => wholeList(await listCurrencies(deps, { workspace, mode })),
})
