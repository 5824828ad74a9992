import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { pathId } from '#shared/contracts/http/path-id.ts'
import { type Operation, TAGS } from '#shared/contracts/openapi/operation.ts'
import { API_VERSION } from '#shared/contracts/webhooks/event.ts'
import { ROUTES } from '../routes.ts'
import { EVENT_CALLBACK, EVENT_WEBHOOK } from './event-webhook.ts'
import { HEADERS, PARAMETERS } from './headers.ts'
import { INTRODUCTION } from './introduction.ts'
import { addPropertyExamples, nullsAsValues } from './property-examples.ts'
import { responsesOf, SHARED_RESPONSES } from './responses.ts'

/** The OpenAPI 3.1 document as plain data. */
export type OpenApiDocument = ReturnType<typeof createDocument>

const MAX_INT32 = 2_147_483_647
/** Formats that limit the length of a text; their long patterns add nothing. */
const LENGTH_OF_FORMAT: Readonly<Record<string, number>> = { uuid: 36 }

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
  nullsAsValues(document as never)
  return document
}

/**
 * Adds the implicit bounds of formats and integers, so that every value in the document is bounded. A `date-time` gets none: the PHP client
 * of openapi-generator measures it on the DateTime that it has made of the text, and fails.
 */
function boundFormats(schema: Record<string, unknown>): void {
  const { type, format, maximum } = schema
  const length = typeof format === 'string' ? LENGTH_OF_FORMAT[format] : undefined
  if (length !== undefined) schema['maxLength'] ??= length
  if (format === 'date-time') delete schema['maxLength']
  if (length !== undefined || format === 'date-time') delete schema['pattern']
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
