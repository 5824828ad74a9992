import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { z } from 'zod'
import { MODES } from '#shared/domain/enumerations.ts'
import { exportPayments } from '#shared/usecases/export-payments.ts'
import type { AdminDeps } from './admin-deps.ts'
import { exportGate } from './export-gate.ts'
import { createContextReader } from './request-context.ts'
import { createCallerFactory } from './trpc.ts'

const query = z.object({
  workspaceId: z.uuid(),
  mode: z.enum(MODES),
  /** Unix milliseconds; inclusive. */
  from: z.coerce.number().int().min(0).optional(),
  /** Exclusive. */
  to: z.coerce.number().int().min(0).optional(),
})
const callGate = createCallerFactory(exportGate)

/**
 * `GET /export/payments.csv?workspaceId&mode&from&to`: a file of any length for whoever may read the workspace, who is judged by the very
 * middleware that judges procedures. Only a batch is in memory at a time. A file that breaks off ends its connection, so that
 * half of it never looks whole.
 */
export function exportPaymentsRoute(deps: AdminDeps) {
  const readContext = createContextReader(deps)
  return async (request: Request, response: Response): Promise<void> => {
    const asked = query.safeParse(request.query)
    if (!asked.success) return refuse(response, 400, 'The address of this export is not complete.')
    const { workspaceId, mode, from = null, to = null } = asked.data
    const context = await readContext({ req: request, res: response } as Parameters<typeof readContext>[0])
    try {
      await callGate(context).open({ workspaceId, mode })
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null
      if (code === 'UNAUTHORIZED') return refuse(response, 401, 'Please log in.')
      if (code === 'NOT_FOUND') return refuse(response, 404, 'There is no such workspace.')
      if (code === 'FORBIDDEN') return refuse(response, 403, 'You may not read this.')
      throw error
    }
    const name = `${mode === 'test' ? 'test_' : ''}payments_${new Date(deps.clock.now()).toISOString().slice(0, 10)}.csv`
    response.set({
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
    })
    try {
      await pipeline(Readable.from(exportPayments(deps.money, { workspaceId, mode, from, to })), response)
    } catch (error) {
      // The reader went away, or the store did; there is nobody to tell but the log.
      deps.logger.warn({ err: error, requestId: context.requestId }, 'an export broke off')
      response.destroy()
    }
  }
}

function refuse(response: Response, status: number, text: string): void {
  response.status(status).set('Cache-Control', 'no-store').type('text').send(text)
}
