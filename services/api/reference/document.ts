import {
  createDocument,
  type ZodOpenApiCallbackObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathItemObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import { ROUTES } from '#services/api/routes.ts'
import { ERROR_TABLE } from '#shared/contracts/errors.ts'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { EXAMPLE } from '#shared/contracts/openapi/examples/ids.ts'
import { simulatedInvoice } from '#shared/contracts/openapi/examples/invoice.ts'
import { type Operation, TAGS } from '#shared/contracts/openapi/operation.ts'
import { API_VERSION, eventBody } from '#shared/contracts/webhooks/event.ts'
import { RATE_BURST, RATE_LIMIT_PER_MINUTE } from '#shared/ports/rate-limit.ts'
import { HEADERS, PARAMETERS } from './headers.ts'
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

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Longest value of an open enumeration. */
const VALUE_LENGTH_MAX = 64
/** Form of its values, old and new. */
const VALUE = '^[A-Za-z0-9_.*-]+$'
/** Most items of a list in an answer: today's number of assets or events is no bound for tomorrow's. */
const ITEMS_MAX = 10_000
const COMPONENT = /^#\/components\/schemas\/(.+)$/
/** A version date. */
const VERSION = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/

/**
 * Opens everything that a client reads: responses, errors, and the events of webhooks and callbacks. A later server may add a field, an
 * item and a value of an enumeration there (docs/versioning.md), and programs generated from a closed document would refuse both. An object
 * says so: `openapi-generator` takes silence for a refusal, and its Go and Java clients then fail on the first new field. The values of
 * today stay listed in `x-extensible-enum`. Requests stay closed, since a field that nobody reads is a mistake of the caller. Our own
 * answers are still compared with the strict schemas (`createAnswerCheck`). Changes the document in place; throws when a request and an
 * answer share a schema, which cannot be both.
 */
function openAnswers(document: Json): void {
  const schemas = ((document['components'] as Json)['schemas'] ?? {}) as Record<string, Json>
  const closed = new Set<string>()
  const opened = new Set<string>()

  const follow = (node: unknown, found: Set<string>, change: (schema: Json) => void): void => {
    if (Array.isArray(node)) for (const each of node) follow(each, found, change)
    if (!isObject(node)) return
    const name = COMPONENT.exec(String(node['$ref'] ?? ''))?.[1]
    if (name !== undefined && !found.has(name)) {
      found.add(name)
      follow(schemas[name], found, change)
    }
    change(node)
    for (const [key, child] of Object.entries(node)) if (!/^examples?$/.test(key)) follow(child, found, change)
  }

  const paths = Object.values(document['paths'] as Record<string, Record<string, Json>>)
  for (const operation of paths.flatMap((item) => Object.values(item))) {
    follow([operation['requestBody'], operation['parameters']], closed, () => undefined)
    follow(operation['responses'], opened, open)
    follow(operation['callbacks'], opened, open)
  }
  follow((document['components'] as Json)['responses'], opened, open)
  follow(document['webhooks'], opened, open)
  const both = [...opened].filter((name) => closed.has(name))
  if (both.length > 0) throw new Error(`schemas of both requests and answers: ${both.join(', ')}`)
}

function open(schema: Json): void {
  if (schema['properties'] !== undefined) schema['additionalProperties'] = true
  if (typeof schema['maxItems'] === 'number') schema['maxItems'] = Math.max(schema['maxItems'], ITEMS_MAX)
  const { type, enum: values, const: only } = schema
  if (type !== 'string') return
  if (typeof only === 'string' && VERSION.test(only)) {
    delete schema['const']
    Object.assign(schema, { maxLength: only.length, pattern: VERSION.source })
  }
  if (!Array.isArray(values)) return
  delete schema['enum']
  Object.assign(schema, { maxLength: VALUE_LENGTH_MAX, pattern: VALUE, 'x-extensible-enum': values })
}

const header = (name: string, description: string, pattern: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: { type: 'string' as const, maxLength: 200, pattern },
})

/** A delivery's body as an example. */
const EVENT_EXAMPLE = {
  id: `evt_${EXAMPLE.invoiceId.replaceAll('-', '')}_4`,
  object: 'event',
  type: 'invoice.paid',
  api_version: API_VERSION,
  livemode: false,
  created_at: EXAMPLE.paidAt,
  data: { object: simulatedInvoice },
}

const REQUEST = {
  required: true,
  description: 'The event.',
  content: { 'application/json': { schema: eventBody, example: EVENT_EXAMPLE } },
} as const
const RESPONSES = { '2XX': { description: 'The event was accepted. The response body is ignored.' } } as const

/**
 * The callback of creating an endpoint. It refers to `Event` from a path, so that generators which drop schemas without a path
 * keep it. Headers are declared only at the webhook: twice they would give two types of one name.
 */
const EVENT_CALLBACK: ZodOpenApiCallbackObject = {
  '{$request.body#/url}': {
    post: {
      operationId: 'deliverEvent',
      tags: ['Events'],
      summary: 'Deliver an event',
      description: 'Each event that the endpoint subscribed to; its headers are described at the webhook `event`.',
      security: [],
      requestBody: REQUEST,
      responses: RESPONSES,
    },
  },
}

/** The only request from Paymesh to a merchant: an event. */
const EVENT_WEBHOOK: ZodOpenApiPathItemObject = {
  post: {
    operationId: 'receiveEvent',
    tags: ['Events'],
    summary: 'Receive an event',
    description:
      'Sent to every endpoint that subscribed to the event. Verify the signature over the raw bytes before you parse them.',
    security: [],
    parameters: [
      header('X-Webhook-Id', 'Delivery: the same for every attempt of it.', '^whd_[0-9a-z]+$'),
      header('X-Webhook-Event', 'Type of the event.', '^[a-z_]+\\.[a-z_]+$'),
      header('X-Webhook-Timestamp', 'Unix time in seconds at which this attempt was signed.', '^[0-9]+$'),
      header('X-Webhook-Signature', 'HMAC-SHA256 of `<t>.<raw body>`.', '^t=[0-9]+,v1=[0-9a-f]{64}$'),
      header(
        'webhook-id',
        'Standard Webhooks: id of the event, the same for every delivery of it.',
        '^evt_[0-9a-z_]+$',
      ),
      header('webhook-timestamp', 'Standard Webhooks: the same Unix second.', '^[0-9]+$'),
      header(
        'webhook-signature',
        'Standard Webhooks: HMAC-SHA256 of `<id>.<timestamp>.<raw body>`, in base64, keyed with the bytes behind `whsec_`.',
        '^v1,[A-Za-z0-9+/=]+( v1,[A-Za-z0-9+/=]+)*$',
      ),
    ],
    requestBody: REQUEST,
    responses: RESPONSES,
  },
}
