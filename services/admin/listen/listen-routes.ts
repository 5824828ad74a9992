import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { errorEnvelope, successEnvelope } from '#shared/contracts/http/envelope.ts'
import { metadataBody } from '#shared/contracts/http/metadata.ts'
import { text } from '#shared/contracts/http/text.ts'
import { validate } from '#shared/contracts/http/validate.ts'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { triggerEvent } from '#shared/usecases/listeners/trigger-event.ts'
import { requireOwn } from '#shared/usecases/requests/require-own.ts'
import type { AdminDeps } from '../assemble.ts'
import { authoriseKey } from './authorise-key.ts'
import { serveListener } from './serve-listener.ts'

const BODY_BYTES_MAX = 4_096
const EVENT_ID = /^evt_[0-9a-z_]{1,96}$/

/** `?events=a,b`: only these; absent or `*`: all. */
const listenQuery = z.strictObject({
  events: boundedText(400)
    .transform((text) => (text === '*' ? [...EVENT_TYPES] : text.split(',')))
    .pipe(z.array(z.enum(EVENT_TYPES)).min(1))
    .optional(),
})
const triggerBody = z
  .strictObject({
    event: z.enum(EVENT_TYPES),
    /** The existing test invoice to continue; without it a new one is created. */
    invoice_id: z.guid('must be a UUID').toLowerCase().optional(),
    order_id: text(120).optional(),
    metadata: metadataBody.optional(),
  })
  .refine((body) => body.invoice_id === undefined || (body.order_id ?? body.metadata) === undefined, {
    path: ['invoice_id'],
    message: 'must not come with order_id or metadata, which an existing invoice has',
  })

/**
 * Endpoints for `paymesh listen` and `paymesh trigger`, outside the versioned API and only for API keys:
 * `GET /listen` streams the events of the key's workspace and mode, `GET /listen/events/{id}` is one of them, and
 * `POST /listen/trigger` triggers one in test mode. Errors have the envelope of the REST API.
 */
export function addListenRoutes(app: Express, deps: AdminDeps): void {
  app.get(
    '/listen',
    answered(deps, async (request, response) => {
      const access = await authoriseKey(deps, request, ['webhooks:manage'])
      const { events = EVENT_TYPES } = validate(listenQuery, request.query)
      await serveListener(deps, { access, types: new Set(events), request, response })
    }),
  )
  app.get(
    '/listen/events/:id',
    answered(deps, async (request, response) => {
      const { key } = await authoriseKey(deps, request, ['webhooks:manage'])
      const id = String(request.params['id'])
      const event = requireOwn(EVENT_ID.test(id) ? (await deps.money.events.findByIds([id])).get(id) : null, key)
      // The frozen bytes, because they are signed.
      response.set('Cache-Control', 'no-store').type('application/json').send(Buffer.from(event.body))
    }),
  )
  app.post(
    '/listen/trigger',
    express.json({ limit: BODY_BYTES_MAX }),
    answered(deps, async (request, response, requestId) => {
      const { key, workspace } = await authoriseKey(deps, request, ['webhooks:manage', 'invoices:write'])
      if (key.mode !== 'test') throw new PaymeshError('TEST_MODE_ONLY')
      const { event, invoice_id, order_id, metadata } = validate(triggerBody, request.body)
      const subject = { invoiceId: invoice_id, orderId: order_id, metadata }
      const { type, invoiceId } = await triggerEvent(deps.money, { workspace, type: event, subject })
      send(response, 201, successEnvelope(JSON.stringify({ event: type, invoice_id: invoiceId }), null, requestId))
    }),
  )
  app.use(
    '/listen',
    answered(deps, async () => {
      throw new PaymeshError('NOT_FOUND')
    }),
    // Errors of reading a body.
    (_error: unknown, request: Request, response: Response, _next: NextFunction) =>
      void answered(deps, async () => {
        throw new PaymeshError('VALIDATION_ERROR', { message: 'The body must be valid JSON.' })
      })(request, response),
  )
}

type Handle = (request: Request, response: Response, requestId: string) => Promise<void>

/** An error that a handler throws before its response began becomes an error envelope; internal texts go only to the log. */
function answered(deps: AdminDeps, handle: Handle) {
  return async (request: Request, response: Response): Promise<void> => {
    const requestId = `req_${deps.random.uuid().replaceAll('-', '')}`
    try {
      await handle(request, response, requestId)
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      const known = error instanceof PaymeshError ? error : new PaymeshError('INTERNAL_ERROR', { cause: error })
      if (known.status >= 500) deps.logger.error({ requestId, error }, 'request failed')
      if (known.code === 'RATE_LIMITED') response.set('Retry-After', '1')
      send(response, known.status, errorEnvelope(known, requestId))
    }
  }
}

function send(response: Response, status: number, body: string): void {
  response.status(status).set('Cache-Control', 'no-store').type('application/json').send(body)
}
