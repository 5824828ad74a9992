import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { z } from 'zod'
import { MODES } from '#shared/domain/enumerations.ts'
import { type ExportRequest, recordedExport } from '#shared/usecases/reports/record-export.ts'
import type { AdminDeps } from './admin-deps.ts'
import { exportGate } from './export-gate.ts'
import { createContextReader } from './request-context.ts'
import { createCallerFactory } from './trpc.ts'

const scope = { workspaceId: z.uuid(), mode: z.enum(MODES) }
const callGate = createCallerFactory(exportGate)

/** A file of lines: what it is called, what it can be narrowed by, and its lines, which are read as fast as they are taken. */
interface ExportPlan<Filters extends z.core.$ZodShape> {
  /** Names the file: `invoices`. */
  readonly what: string
  readonly filters: Filters
  readonly lines: (
    asked: z.output<z.ZodObject<typeof scope & Filters, z.core.$strict>>,
    onRows: (count: number) => void,
  ) => AsyncIterable<string>
}

/**
 * `GET /export/<what>.csv?workspaceId&mode&…`: a file of any length for those who may read the workspace, decided by the same
 * middleware as for procedures. Only a batch is in memory at a time. A filter that is unknown or unreadable is refused, so that no file holds more than was
 * asked for. Each file leaves its rows in the audit trail (`recordedExport`). A file that breaks off ends its connection, so that half of it never looks whole.
 */
export function exportRoute<Filters extends z.core.$ZodShape>(deps: AdminDeps, plan: ExportPlan<Filters>) {
  const readContext = createContextReader(deps)
  const query = z.strictObject({ ...scope, ...plan.filters })
  return async (request: Request, response: Response): Promise<void> => {
    const asked = query.safeParse(readQuery(request.query))
    if (!asked.success) return refuse(response, 400, 'The address of this export cannot be read.')
    const { workspaceId, mode } = z.object(scope).parse(asked.data)
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
    const day = new Date(deps.clock.now()).toISOString().slice(0, 10)
    response.set({
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${mode === 'test' ? 'test_' : ''}${plan.what}_${day}.csv"`,
      'Cache-Control': 'no-store',
    })
    try {
      const file = recordedExport(
        { clock: deps.clock, exports: deps.exports },
        {
          ...{ requestId: context.requestId, actor: `user:${context.session?.email}`, workspaceId, mode },
          ...{ what: plan.what, filters: shownFilters(asked.data) },
        },
        (onRows) => plan.lines(asked.data, onRows),
      )
      await pipeline(Readable.from(file), response)
    } catch (error) {
      // The reader went away, or the store did; there is nobody to answer but the log.
      deps.logger.warn({ err: error, requestId: context.requestId }, 'an export broke off')
      response.destroy()
    }
  }
}

/** Filters as the audit trail keeps them: what people typed may be a customer's address, hence only that something was. */
function shownFilters(asked: Readonly<Record<string, unknown>>): ExportRequest['filters'] {
  const shown: Record<string, string | number | boolean | null> = {}
  for (const [name, value] of Object.entries(asked)) {
    if (Object.hasOwn(scope, name) || value === null || value === '') continue
    if (name === 'q') shown['searched'] = true
    else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') shown[name] = value
  }
  return shown
}

/** Names of filters that are numbers or truth values; everything else is text. */
const NUMBERS = new Set(['from', 'to'])
const TRUTHS: Readonly<Record<string, boolean>> = { true: true, false: false }

/** The query of an address as the filters of a list take it. What has another form is left as it is, and refused by them. */
function readQuery(query: Request['query']): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (typeof value !== 'string') return [name, value]
      if (NUMBERS.has(name)) return [name, /^\d{1,15}$/.test(value) ? Number(value) : value]
      return [name, name === 'counted' ? (TRUTHS[value] ?? value) : value]
    }),
  )
}

function refuse(response: Response, status: number, text: string): void {
  response.status(status).set('Cache-Control', 'no-store').type('text').send(text)
}
