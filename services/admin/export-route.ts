import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { z } from 'zod'
import { dayIn } from '#shared/contracts/zone-days.ts'
import { FIAT_CODES, type FiatCode, MODES, type Mode } from '#shared/domain/enumerations.ts'
import { type ExportRequest, recordedExport } from '#shared/usecases/reports/record-export.ts'
import { zoneOf } from '#shared/usecases/workspaces/zone-of.ts'
import type { AdminDeps } from './assemble.ts'
import { watchMember } from './demand-member.ts'
import { createContextReader } from './request-context.ts'
import { type AdminContext, createCallerFactory, router, workspaceQuery } from './trpc.ts'

const scope = { workspaceId: z.uuid(), mode: z.enum(MODES) }
/** Why a form gets no file: it is unreadable, or has an unknown or invalid field. */
export const INVALID_EXPORT = 'The export request is invalid.'
/** Admits everyone who may read a workspace: for responses that are files and not procedures. */
const exportGate = router({
  open: workspaceQuery('viewer')
    .output(z.object({ zone: z.string(), reportingCurrency: z.enum(FIAT_CODES) }))
    .query(({ ctx: { workspace } }) => ({
      zone: zoneOf(workspace),
      reportingCurrency: workspace.policy.reportingCurrency,
    })),
})

/** What a file takes from the settings of its workspace. */
interface ExportSettings {
  readonly zone: string
  readonly reportingCurrency: FiatCode
}

const callGate = createCallerFactory(exportGate)

/** A file of lines: its name, its filters, and its lines, which are read as fast as they are consumed. */
interface ExportPlan<Filters extends z.core.$ZodShape> {
  /** File name: `invoices`. */
  readonly what: string
  readonly filters: Filters
  readonly lines: (
    filters: z.output<z.ZodObject<typeof scope & Filters, z.core.$strict>>,
    onRows: (count: number) => void,
    settings: ExportSettings,
  ) => AsyncIterable<string>
}

/**
 * `POST /export/<what>.csv` with `workspaceId`, `mode` and filters as the fields of a form, since a search may name a person: a file of
 * any length for those who may read the workspace, decided by the same middleware as for procedures. Only a batch is in memory at a time. A filter that is unknown or unreadable is refused, so that no file holds more than was
 * asked for, and a file ends with the session. Each file leaves its rows in the audit trail (`recordedExport`). A file that breaks off ends its connection, so that half of it never looks whole.
 */
export function exportRoute<Filters extends z.core.$ZodShape>(deps: AdminDeps, plan: ExportPlan<Filters>) {
  const readContext = createContextReader(deps)
  const form = z.strictObject({ ...scope, ...plan.filters })
  return async (request: Request, response: Response): Promise<void> => {
    const parsed = form.safeParse(readForm(request.body))
    if (!parsed.success) return refuse(response, 400, INVALID_EXPORT)
    const { workspaceId, mode } = z.object(scope).parse(parsed.data)
    const context = await readContext({ req: request, res: response } as Parameters<typeof readContext>[0])
    const { session } = context
    if (session === null) return refuse(response, 401, 'Please log in.')
    const entered = await enter(context, { workspaceId, mode }).catch((error: unknown) => {
      const [status, text] = REFUSALS.get(error instanceof Error && 'code' in error ? error.code : null) ?? []
      if (status === undefined || text === undefined) throw error
      refuse(response, status, text)
    })
    if (entered === undefined) return
    const { leave, settings } = entered
    const name = fileName(plan.what, mode, { ...parsed.data, zone: settings.zone, now: deps.clock.now() })
    response.set({
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'Cache-Control': 'no-store',
    })
    const over = new AbortController()
    const unwatch = watchMember(deps, session, workspaceId, () => over.abort())
    try {
      const file = recordedExport(
        { clock: deps.clock, exports: deps.exports },
        {
          ...{ requestId: context.requestId, actor: `user:${session.email}`, workspaceId, mode },
          ...{ what: plan.what, filters: shownFilters(parsed.data) },
        },
        (onRows) => plan.lines(parsed.data, onRows, settings),
      )
      await pipeline(Readable.from(file), response, { signal: over.signal })
    } catch (error) {
      // The reader or the store disconnected, or the session ended; only the log can report it.
      deps.logger.warn({ err: error, requestId: context.requestId }, 'an export was interrupted')
      response.destroy()
    } finally {
      unwatch()
      leave()
    }
  }
}

const REFUSALS: ReadonlyMap<unknown, readonly [status: number, text: string]> = new Map([
  ['UNAUTHORIZED', [401, 'Please log in.']],
  ['NOT_FOUND', [404, 'Workspace not found.']],
  ['FORBIDDEN', [403, 'You do not have access to this export.']],
  ['RATE_LIMITED', [429, 'You have too many exports. Wait for the others to end, or try again in ten minutes.']],
])

/** Checks that the person may read the workspace, then takes a place in their budget of exports; returns what releases it, and the settings. */
async function enter(context: AdminContext, at: { readonly workspaceId: string; readonly mode: Mode }) {
  const settings: ExportSettings = await callGate(context).open(at)
  return { leave: context.deps.budgets.enter('export', context.session?.userId ?? context.ip), settings }
}

/** `invoices_2026-11_paid_America-Bogota_live.csv`: what it holds, for which importer, of which period by which time, in the days of which zone, and in which mode. */
function fileName(
  what: string,
  mode: Mode,
  filters: Readonly<Record<string, unknown>> & { readonly zone: string; readonly now: number },
): string {
  const { zone, now } = filters
  const time = (name: string) => (typeof filters[name] === 'number' ? filters[name] : null)
  const word = (name: string) => (typeof filters[name] === 'string' ? [filters[name]] : [])
  const period = periodName({ from: time('from'), to: time('to'), zone, now })
  const parts = [what, ...word('profile'), period, ...word('by'), zone.replaceAll('/', '-'), mode]
  return `${parts.join('_')}.csv`
}

function periodName(period: {
  readonly from: number | null
  readonly to: number | null
  readonly zone: string
  readonly now: number
}): string {
  const { from, to, zone, now } = period
  const last = dayIn(to === null ? now : to - 1, zone)
  if (from === null) return `until-${last}`
  const first = dayIn(from, zone)
  const isMonth = to !== null && first.endsWith('-01') && last.slice(0, 7) === first.slice(0, 7)
  return isMonth && dayIn(to, zone).endsWith('-01') ? first.slice(0, 7) : `${first}_${last}`
}

/** Filters as recorded in the audit log: typed text may be a customer's address, so only its presence is recorded. */
function shownFilters(filters: Readonly<Record<string, unknown>>): ExportRequest['filters'] {
  const shown: Record<string, string | number | boolean | null> = {}
  for (const [name, value] of Object.entries(filters)) {
    if (Object.hasOwn(scope, name) || value === null || value === '') continue
    if (name === 'q') shown['searched'] = true
    else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') shown[name] = value
  }
  return shown
}

/** Names of filters that are numbers or booleans; all others are text. */
const NUMBERS = new Set(['from', 'to'])
const TRUTHS: Readonly<Record<string, boolean>> = { true: true, false: false }

/**
 * The fields of a form, whatever their names, as the filters of a list take them. A value of another form stays as it is, and a repeated
 * field becomes a list of its values: the filters refuse both.
 */
function readForm(text: unknown): Record<string, unknown> {
  const given = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(typeof text === 'string' ? text : '')) {
    const values = given.get(name)
    // Asking the form for all values of each name would read it once per field.
    if (values === undefined) given.set(name, [value])
    else values.push(value)
  }
  return Object.fromEntries(
    [...given].map(([name, values]) => {
      const [value = ''] = values
      if (values.length > 1) return [name, values]
      if (NUMBERS.has(name)) return [name, /^\d{1,15}$/.test(value) ? Number(value) : value]
      return [name, name === 'counted' ? (TRUTHS[value] ?? value) : value]
    }),
  )
}

/** Answers an export request with a sentence instead of a file. */
export function refuse(response: Response, status: number, text: string): void {
  response.status(status).set('Cache-Control', 'no-store').type('text').send(text)
}
