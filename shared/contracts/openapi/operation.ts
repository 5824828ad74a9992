import type { z } from 'zod'
import type { ErrorCode } from '#shared/contracts/errors.ts'
import type { Scope } from '#shared/domain/enumerations.ts'

/** Groups of operations, in the order of the reference. */
export const TAGS = {
  Invoices: 'Price something in fiat, have it paid on-chain.',
  'Payment links': 'One link for many payers: each payment creates its own invoice.',
  Products: 'Items that payment links sell.',
  Payments: 'On-chain transfers attributed to invoices.',
  'Currencies and rates': 'Available assets and their current rates.',
  'Webhook endpoints': 'Where signed events are sent.',
  // A separate tag: generators put each tag into one class, and webhooks do not belong in a client.
  Events: 'What is sent to webhook endpoints.',
} as const
export type Tag = Exclude<keyof typeof TAGS, 'Events'>

/** A JSON body of a request: the schema that validates it and an example that it accepts. */
export interface RequestBody {
  readonly schema: z.ZodType
  readonly example: unknown
}

/** A success response: its status, and the resource or list in `data`. */
export interface Success {
  readonly status: 200 | 201
  readonly description: string
  /** Schema of `data`, or of one of its entries when `listMax` is set. */
  readonly resource: z.ZodType
  /** Component name of the envelope in the OpenAPI document. */
  readonly envelope: string
  /** Most entries of a list; null when `data` is one resource. */
  readonly listMax: number | null
  /** One resource; for a list, its only entry in the example. */
  readonly example: unknown
}

/** One operation of the REST API. Its schemas are the ones that validate at run time. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/api/v1`, with `{id}` for the resource. */
  readonly path: string
  readonly operationId: string
  readonly tag: Tag
  /** Title: a few words without a full stop. */
  readonly summary: string
  /** Markdown: paragraphs and inline code. */
  readonly description: string
  readonly scope: Scope
  /** Live keys get `TEST_MODE_ONLY`. */
  readonly testOnly?: true
  /** Restricted workspaces get `WORKSPACE_RESTRICTED`. */
  readonly restricted?: true
  readonly query?: z.ZodObject
  readonly body?: RequestBody
  readonly success: Success
  /** Error codes specific to this operation; `errorCodes` adds those that follow from its shape. */
  readonly errors?: readonly ErrorCode[]
}

const EVERYWHERE: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'UNAUTHENTICATED',
  'FORBIDDEN_SCOPE',
  'WORKSPACE_SUSPENDED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
]

/** Every error code that the operation may return; any other one is a bug of the server. */
export function errorCodes(operation: Operation): ReadonlySet<ErrorCode> {
  const codes = new Set([...EVERYWHERE, ...(operation.errors ?? [])])
  if (operation.path.includes('{id}')) codes.add('NOT_FOUND')
  if (operation.restricted) codes.add('WORKSPACE_RESTRICTED')
  if (operation.testOnly) codes.add('TEST_MODE_ONLY')
  if (operation.method === 'POST') codes.add('IDEMPOTENCY_MISMATCH').add('IDEMPOTENCY_IN_PROGRESS')
  return codes
}
