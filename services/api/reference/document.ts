import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { ROUTES } from '#services/api/routes.ts'
import { ERROR_TABLE } from '#shared/contracts/errors.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { type Operation, TAGS } from '#shared/contracts/openapi/operation.ts'
import { API_VERSION } from '#shared/contracts/webhooks/event.ts'
import { RATE_BURST, RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'
import { EVENT_CALLBACK, EVENT_WEBHOOK } from './event-webhook.ts'
import { HEADERS, PARAMETERS } from './headers.ts'
import { openAnswers } from './open-answers.ts'
import { addPropertyExamples, nullsWithoutType } from './property-examples.ts'
import { responsesOf, SHARED_RESPONSES } from './responses.ts'

/** The OpenAPI 3.1 document as plain data. */
type OpenApiDocument = ReturnType<typeof createDocument>

const MAX_INT32 = 2_147_483_647
/** Formats that limit the length of a text. Generated clients read such a text into a type without a length or a pattern. */
const BOUNDED_FORMATS: readonly unknown[] = ['uuid', 'date-time']

/**
 * The OpenAPI 3.1 document of the API, from the schemas that validate requests and responses. Deterministic.
 * `serverUrl` is where paths begin; without it they are relative to the host that serves the document.
 */
export function createOpenApiDocument(serverUrl = '/api/v1'): OpenApiDocument {
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Paymesh',
        version: API_VERSION,
        description: INTRODUCTION,
        contact: { name: 'The operator of this installation' },
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      servers: [
        {
          url: serverUrl,
          description: 'This server; live keys access production data, test keys the sandbox.',
          'x-internal': false,
        },
      ],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      security: [{ apiKey: [] }],
      paths: pathsOf(ROUTES),
      webhooks: { event: EVENT_WEBHOOK },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key: `pm_live_…` for live data, `pm_test_…` for test data.',
          },
        },
        headers: HEADERS,
        parameters: PARAMETERS,
        responses: SHARED_RESPONSES,
      } as never,
    },
    { override: ({ jsonSchema }) => boundFormats(jsonSchema) },
  )
  addPropertyExamples(document as never)
  nullsWithoutType(document as never)
  openAnswers(document as never)
  return document
}

/**
 * Adds the bounds of integers, and takes from a text with a bounded format what repeats the bound: the PHP and C# clients of
 * openapi-generator would measure the length of a `DateTime` and of a `Guid`, which fails and does not compile.
 */
function boundFormats(schema: Record<string, unknown>): void {
  const { type, format, maximum } = schema
  if (BOUNDED_FORMATS.includes(format)) for (const bound of ['minLength', 'maxLength', 'pattern']) delete schema[bound]
  if (type === 'integer') schema['format'] ??= typeof maximum === 'number' && maximum <= MAX_INT32 ? 'int32' : 'int64'
}

function pathsOf(operations: readonly Operation[]): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {}
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: describe(operation) }
  }
  return paths
}

function describe(operation: Operation): ZodOpenApiOperationObject {
  const { operationId, tag, summary, description, scope, path, query, body } = operation
  return {
    operationId,
    tags: [tag],
    summary,
    description: `${description}\n\nScope: \`${scope}\`.`,
    'x-scope': scope,
    requestParams: { ...(path.includes('{id}') && { path: pathId }), ...(query !== undefined && { query }) },
    ...(operation.method === 'POST' && { parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }] }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: body.schema, example: body.example } },
      },
    }),
    ...(operationId === 'createWebhookEndpoint' && { callbacks: { event: EVENT_CALLBACK } }),
    responses: responsesOf(operation),
  } as ZodOpenApiOperationObject
}

/**
 * Introduction for every caller, as Markdown. Used by the OpenAPI document and the reference page.
 */
const INTRODUCTION = `Paymesh prices invoices in fiat currency, accepts on-chain payments in crypto assets and sends a signed webhook for every change.

## Basics

All paths are below \`/api/v1\`; bodies are JSON in UTF-8, at most 256 KB. Amounts are decimal strings, times are ISO 8601 in UTC. Unknown fields and parameters are refused. For an optional field of a request, \`null\` and \`""\` are the same as leaving it out.

Responses and events may get new fields, and \`x-extensible-enum\` lists today's values of a field that may get new ones: ignore a field that you do not use, and let a choice have a default.

Every response has the same envelope: \`data\`, \`error\` and \`request_id\`; lists add \`meta\`. On success \`error\` is null, on failure \`data\` is.

## Authentication

Send \`Authorization: Bearer <API key>\` with every request. Keys are secrets of your server: never put them into a browser or an app.

The key decides the mode: \`pm_live_…\` sees and creates live data only, \`pm_test_…\` test data only (\`livemode: false\`). A record of the other mode or of another workspace is \`NOT_FOUND\`, like one that does not exist. Each key carries scopes; every operation names the one it needs.

## Idempotency

Every POST takes an \`Idempotency-Key\` header of 1 to 255 characters. A repetition with the same body within 24 hours returns the first response, including its status, with \`Idempotent-Replayed: true\`, and creates nothing. The same key with another body is \`IDEMPOTENCY_MISMATCH\`; while the first request is still running, the error is \`IDEMPOTENCY_IN_PROGRESS\`: wait and repeat.

If you receive no response to a POST, repeat it with the same key. Refused requests (a validation error, 401, 403, 429, 5xx) do not use up the key.

## Rate limit

${RATE_LIMIT_PER_MINUTE} requests a minute per key, in bursts of up to ${RATE_BURST}. Every response has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`; a 429 also \`Retry-After\`, in whole seconds, and so does the 503 of a missing rate.

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
