import { estimateBody } from '#shared/contracts/http/estimate.ts'
import { noQuery } from '#shared/contracts/http/list-query.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { type EstimateDeps, estimateAmount } from '#shared/usecases/estimate-amount.ts'
import { parseJson } from '../middleware/read-body.ts'
import { respond } from '../respond.ts'
import type { Handler } from '../route.ts'

/** `POST /estimate`: 200 with the amount at the current rate, which is not locked; 503 without a fresh rate. */
export function estimate(deps: EstimateDeps): Handler {
  return async (context) => {
    validate(noQuery, context.query)
    const body = validate(estimateBody, parseJson(context.rawBody))
    const { workspace, mode } = context
    return respond(context, 200, await estimateAmount(deps, { workspace, mode, body }))
  }
}
