import { ERROR_TABLE } from '#shared/contracts/errors.ts'
import { RATE_BURST, RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'

/**
 * Introduction for every caller, as Markdown. Used by the OpenAPI document and the reference page.
 */
export const INTRODUCTION = `Paymesh prices invoices in fiat currency, accepts on-chain payments in crypto assets and sends a signed webhook for every change.

## Basics

All paths are below \`/api/v1\`; bodies are JSON in UTF-8, at most 256 KB. Amounts are decimal strings, times are ISO 8601 in UTC. Unknown fields and parameters are refused.

Every response has the same envelope: \`data\`, \`error\` and \`request_id\`; lists add \`meta\`. On success \`error\` is null, on failure \`data\` is.

## Authentication

Send \`Authorization: Bearer <API key>\` with every request. Keys are secrets of your server: never put them into a browser or an app.

The key decides the mode: \`pm_live_…\` sees and creates live data only, \`pm_test_…\` test data only (\`livemode: false\`). A record of the other mode or of another workspace is \`NOT_FOUND\`, like one that does not exist. Each key carries scopes; every operation names the one it needs.

## Idempotency

Every POST takes an \`Idempotency-Key\` header of 1 to 255 characters. A repetition with the same body within 24 hours returns the first response, including its status, with \`Idempotent-Replayed: true\`, and creates nothing. The same key with another body is \`IDEMPOTENCY_MISMATCH\`; while the first request is still running, the error is \`IDEMPOTENCY_IN_PROGRESS\`: wait and repeat.

If you receive no response to a POST, repeat it with the same key. Refused requests (a validation error, 401, 403, 429, 5xx) do not use up the key.

## Rate limit

${RATE_LIMIT_PER_MINUTE} requests a minute per key, in bursts of up to ${RATE_BURST}. Every response has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`; a 429 also \`Retry-After\`, in whole seconds.

## Lists

Newest first. \`limit\` is 1 to 100, by default 20. While \`meta.has_more\` is true, pass \`meta.next_cursor\` as \`cursor\` for the next page, with the same filters. New records do not cause duplicates or gaps.

## Webhooks

Each change of an invoice or payment is sent as a signed POST to every endpoint that subscribed to it. Return any 2xx within 10 seconds. Otherwise the delivery is retried up to 8 times: immediately, then after 1 minute, 5 minutes, 30 minutes, 2, 6, 12 and 24 hours.

Verify \`X-Webhook-Signature: t=<unix seconds>,v1=<hex>\`: \`v1\` is HMAC-SHA256 over \`<t>.<raw body>\`, keyed with the endpoint's secret. Compare in constant time, and reject it if \`t\` is more than 300 seconds away from your clock. Deliveries may arrive twice or out of order: deduplicate by \`id\` and read the invoice's current \`status\`.

## Errors

\`error.code\` is one of a closed set; \`error.message\` is for people and may change. A \`VALIDATION_ERROR\` lists the offending fields in \`error.details\`.

${errorTable()}

A path that does not exist is 404 \`NOT_FOUND\`, a method that a path does not take is 405 with the same code.`

function errorTable(): string {
  const rows = Object.entries(ERROR_TABLE).map(
    ([code, { status, message, retryable }]) =>
      `| ${status} | \`${code}\` | ${message} | ${retryable ? 'yes' : 'no'} |`,
  )
  return ['| Status | Code | Meaning | Repeat later |', '| --- | --- | --- | --- |', ...rows].join('\n')
}
