import { rateListQuery } from '#shared/contracts/http/rate-resource.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { type ListRatesDeps, listRates as listRecords } from '#shared/usecases/list-rates.ts'
import { respondList } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `GET /rates`: 200 with the rates that are fresh, 503 when none is. */
export function listRates(deps: ListRatesDeps): Handler {
  return async (context) => {
    const { fiat, asset = null } = validate(rateListQuery, context.query)
    const { workspace, mode } = context
    const rates = await listRecords(deps, { workspace, mode, fiat, asset })
    return respondList(context, rates, { next_cursor: null, has_more: false })
  }
}
