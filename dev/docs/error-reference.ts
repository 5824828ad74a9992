import { ERROR_TABLE, type ErrorCode } from '#shared/contracts/errors.ts'

/** What to do about each error; written for readers of a shop's log. */
const ADVICE: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: 'Read `error.details`: each names a field and what is wrong with it. The same request fails again.',
  UNSUPPORTED_ASSET: 'Use an `id` of `GET /currencies`.',
  NO_WALLET_FOR_ASSET:
    '`GET /currencies` gives the reason in `unavailable_reason`: no wallet, no node, a token that the testnet lacks, a lagging network, or an exhausted pool. Create the invoice without `asset` and let the payer choose.',
  AMOUNT_BELOW_MINIMUM:
    '`min_amount` of `GET /currencies` is in units of the asset; offer another asset for small sums.',
  UNAUTHENTICATED: 'Send `Authorization: Bearer pm_live_…` or `pm_test_…`. A revoked key stops at once.',
  FORBIDDEN_SCOPE: 'Create a key with the scope that the operation requires.',
  WORKSPACE_SUSPENDED:
    'All calls are refused. Existing invoices are still monitored and settled, and their events are delivered. Contact the operator of the installation.',
  WORKSPACE_RESTRICTED: 'Reading works, creating does not. Contact the operator of the installation.',
  PLAN_LIMIT_REACHED: 'The limit of the plan for this month, for links or for endpoints is used up.',
  TEST_MODE_ONLY: 'Use a test key.',
  NOT_FOUND:
    'The id is wrong, or belongs to another workspace or to the other mode: the response is deliberately the same.',
  INVALID_STATE:
    'Read the resource and decide again; an invoice that received money cannot be cancelled, for instance.',
  IDEMPOTENCY_MISMATCH: 'A key belongs to one request body for 24 hours. Use a new key for a new action.',
  IDEMPOTENCY_IN_PROGRESS: 'Wait a second and send the very same request again.',
  RATE_LIMITED: 'Wait for `Retry-After` seconds.',
  INTERNAL_ERROR: 'Send the very same request again with the same idempotency key; if it stays, report `request_id`.',
  RATES_UNAVAILABLE:
    '`details` names what has no price (`asset`: the coin, also one off its peg; `currency` or `fiat`: the currency) and why. Try again after `Retry-After` seconds. Where `details` says that other assets have a price, an invoice without `asset` lets the payer choose one of them; in a currency without a price, nothing can be paid until it has one.',
}

/** Text of `docs/errors.md`. */
export function errorReference(): string {
  const rows = (Object.keys(ERROR_TABLE) as ErrorCode[]).map((code) => {
    const { status, retryable, owner, message } = ERROR_TABLE[code]
    return `## ${code}\n\n\`${status}\` · ${retryable ? 'may succeed when sent again' : 'fails again unless something changes'} · to be fixed by the ${owner}\n\n${message} ${ADVICE[code]}\n`
  })
  return `# Errors

Every failure returns \`{ "data": null, "error": { "code", "message", "details" }, "request_id" }\`. Branch on \`code\`; texts may change.
A path that does not exist, a method it does not take (405), a body that is too large (413) or of another type (415) use the nearest code.

${rows.join('\n')}`
}
