import { noQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { type ListCurrenciesDeps, listCurrencies as listRecords } from '#shared/usecases/list-currencies.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /currencies`: 200 with every supported asset and whether the workspace can receive it now. */
export function listCurrencies(deps: ListCurrenciesDeps): Handler {
  return async (context) => {
    validate(noQuery, context.query)
    return respondList(context, await listRecords(deps, context), { next_cursor: null, has_more: false })
  }
}
