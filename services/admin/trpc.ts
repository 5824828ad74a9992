import { initTRPC, type TRPC_ERROR_CODE_KEY, TRPCError } from '@trpc/server'
import { z } from 'zod'
import { type ErrorDetail, PaymeshError } from '#shared/contracts/errors.ts'
import { whileActing } from '#shared/db/audit/acting-member.ts'
import { MODES } from '#shared/domain/enumerations.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { Role } from '#shared/ports/users.ts'
import { beginOperation, isRefusal } from '#shared/usecases/requests/begin-operation.ts'
import type { AdminDeps } from './assemble.ts'
import { allows } from './roles.ts'

/** Context of a request for every procedure. Building it never throws: a bad cookie means no session. */
export interface AdminContext {
  readonly requestId: string
  readonly ip: string
  readonly userAgent: string
  readonly session: OperatorSession | null
  readonly deps: AdminDeps
  /** The device token that this browser got at an earlier login; null without one. */
  readonly device: string | null
  /** Replaces the session cookie of the response; null removes it. */
  setSessionToken(token: string | null): void
  /** Sets the device token of the browser. */
  setDevice(device: string): void
}

/**
 * Who may call a procedure. `anyone`: no login. `asked`: a password was entered and a code is awaited. `signedIn`: a session whose
 * second factor is complete, or not required yet. A role: at least that one in the workspace of the input. `operator`: instance
 * admins. Every check runs before the procedure's own input is read.
 */
export interface ProcedureMeta {
  readonly access: 'anyone' | 'asked' | 'signedIn' | 'operator' | Role
  /** When a TOTP code entered within the last minutes, in this very session, is required. */
  readonly stepUp: StepUp
  /** Changes something under an operation id of the client: `carriedOutOnce` runs before it. */
  readonly once?: true
}

/**
 * `true`: always. `live`: unless the input is in test mode. `shortfall`: in live mode, when the accepted amount is short by more than the
 * workspace's threshold, which the procedure checks with `demandStepUp`. Decision 0053 lists the procedures.
 */
export type StepUp = boolean | 'live' | 'shortfall'

/** The longest life of a live view's connection; its page reconnects automatically. */
export const LIVE_VIEW_MS_MAX = 300_000

const t = initTRPC
  .context<AdminContext>()
  .meta<ProcedureMeta>()
  .create({
    sse: {
      ping: { enabled: true, intervalMs: 15_000 },
      maxDurationMs: LIVE_VIEW_MS_MAX,
      client: { reconnectAfterInactivityMs: 45_000 },
    },
    isDev: false,
    errorFormatter: ({ shape, error, ctx }) => ({
      code: shape.code,
      message: publicMessage(error),
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        /** Null where the path may be the caller's own text and not a procedure of ours. */
        path: isOurs(error) ? (shape.data.path ?? null) : null,
        requestId: ctx?.requestId ?? null,
        /** Code of the error table; null for faults of the transport. */
        errorCode: error.cause instanceof PaymeshError ? error.cause.code : null,
        details: detailsOf(error),
      },
    }),
  })

export const router = t.router
export const mergeRouters = t.mergeRouters
export const createCallerFactory = t.createCallerFactory

/** An error with our own text. The transport's own texts quote the caller, who may have entered a secret as a name. */
export class Refused extends TRPCError {}

/** Texts that replace those of the transport. */
const TRANSPORT_LABELS: Partial<Record<TRPC_ERROR_CODE_KEY, string>> = {
  NOT_FOUND: 'Procedure not found.',
  METHOD_NOT_SUPPORTED: 'This procedure requires another HTTP method.',
}

/** An existing procedure was reached and refused or failed. */
function isOurs(error: TRPCError): boolean {
  const { code, cause } = error
  if (error instanceof Refused || code === 'INTERNAL_SERVER_ERROR') return true
  return cause instanceof PaymeshError || cause instanceof z.ZodError
}

function publicMessage(error: TRPCError): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') return 'Something went wrong on our side.'
  if (error.cause instanceof z.ZodError) return 'The input is invalid.'
  return isOurs(error) ? error.message : (TRANSPORT_LABELS[error.code] ?? 'The request is malformed.')
}

function detailsOf({ cause }: TRPCError): readonly ErrorDetail[] {
  if (cause instanceof PaymeshError) return cause.details ?? []
  if (!(cause instanceof z.ZodError)) return []
  return cause.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
}

const CODES: Readonly<Record<number, TRPC_ERROR_CODE_KEY>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
}

/** Our own errors are returned with their status; anything else is logged and becomes an internal error. */
const withErrors = t.middleware(async ({ ctx, path, next }) => {
  const startedAt = performance.now()
  const result = await next()
  const outcome = result.ok ? 'ok' : result.error.code.toLowerCase()
  ctx.deps.metrics.observe('admin_procedure_seconds', (performance.now() - startedAt) / 1_000, {
    procedure: path,
    outcome,
  })
  if (result.ok) return result
  const { cause } = result.error
  if (cause instanceof PaymeshError) {
    throw new Refused({ code: CODES[cause.status] ?? 'INTERNAL_SERVER_ERROR', message: cause.message, cause })
  }
  if (result.error.code === 'INTERNAL_SERVER_ERROR') {
    ctx.deps.logger.error({ requestId: ctx.requestId, path, error: cause ?? result.error }, 'a procedure failed')
  }
  return result
})

/** There is a session and its person has completed the second factor, if required. */
const signedIn = t.middleware(async ({ ctx, next }) => {
  const { session } = ctx
  if (session === null || session.secondFactor === 'asked')
    throw new Refused({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  return await next({ ctx: { session, actor: `user:${session.email}` } })
})

/** The password was entered, and a code comes next. */
const codeAwaited = t.middleware(async ({ ctx, next }) => {
  const { session } = ctx
  if (session?.secondFactor !== 'asked') throw new Refused({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  return await next({ ctx: { session } })
})

const steppedUp = t.middleware(async ({ ctx, meta, getRawInput, next }) => {
  const needed = meta?.stepUp === true || (meta?.stepUp === 'live' && !isTest(await getRawInput()))
  if (needed) demandStepUp(ctx)
  return await next()
})

/** Only an input that says so is in test mode. */
function isTest(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'mode' in input && input.mode === 'test'
}

/** Throws `FORBIDDEN` unless this session entered a code in the last minutes; the page then requests one, or an authenticator. */
export function demandStepUp({ session, deps }: Pick<AdminContext, 'session' | 'deps'>): void {
  if (session?.secondFactor !== 'given') throw secondFactorNeeded('Turn on two-factor authentication to do this.')
  const until = session.steppedUpUntil
  if (until === null || until < deps.clock.now()) throw forbidden(STEP_UP_LABELS, 'stepUp')
}

const STEP_UP_LABELS = 'Confirm this with an authenticator code.'

/** The page offers to set up an authenticator. */
function secondFactorNeeded(message: string): PaymeshError {
  return forbidden(message, 'secondFactor')
}

/** An error that the page can resolve: it requests what `path` names and repeats the call. */
function forbidden(message: string, path: 'stepUp' | 'secondFactor'): PaymeshError {
  return new PaymeshError('FORBIDDEN_SCOPE', { message, details: [{ path, message: 'needed' }] })
}

const workspaceInput = z.object({ workspaceId: z.uuid(), mode: z.enum(MODES) })
/** `opId` identifies the operation: a repetition is done once. `reason` goes to the audit log. */
const actionInput = z.object({ opId: z.uuid(), reason: z.string().trim().max(500).optional() })

/** Foreign and unknown workspaces give the same 404; an insufficient role gives a 403. */
const member = (role: Role) =>
  t.middleware(async ({ ctx, input, next }) => {
    const { workspaceId } = input as z.output<typeof workspaceInput>
    const held = ctx.session?.roles.get(workspaceId)
    const workspace = held === undefined ? null : await ctx.deps.workspaces.findById(workspaceId)
    if (held === undefined || workspace === null)
      throw new Refused({ code: 'NOT_FOUND', message: 'Resource not found.' })
    if (workspace.policy.requiresSecondFactor === true && ctx.session?.secondFactor !== 'given')
      throw secondFactorNeeded(`${workspace.name} requires two-factor authentication. Turn it on first.`)
    if (!allows(held, role))
      throw new Refused({
        code: 'FORBIDDEN',
        message: `Requires the ${role.slice(0, 1).toUpperCase()}${role.slice(1)} role.`,
      })
    const acting = { workspaceId, userId: ctx.session?.userId ?? '', role: held }
    return await whileActing(acting, () => next({ ctx: { workspace, role: held } }))
  })

/**
 * Binds the client's `opId` to actor, procedure and input, and passes on an id derived from all of them. The same `opId` with anything
 * else is refused; a request that was refused leaves the `opId` free.
 */
const carriedOutOnce = t.middleware(async ({ ctx, input, path, meta, getRawInput, next }) => {
  const given = input as z.output<typeof actionInput> & Partial<z.output<typeof workspaceInput>>
  const { opId: _opId, ...content } = (await getRawInput()) as Readonly<Record<string, unknown>>
  const actor = `user:${ctx.session?.email}`
  const scope = given.workspaceId ?? (meta?.access === 'operator' ? 'installation' : `user:${ctx.session?.userId}`)
  const asked = { scope, opId: given.opId, actor, procedure: path, content }
  const operation = await beginOperation(ctx.deps, asked)
  const result = await next({ ctx: { operation }, input: { ...given, opId: operation.id } })
  const outcome = result.ok ? 'done' : wasRefused(result.error) ? 'refused' : 'unknown'
  // A completed operation stays completed, whether or not the register could be updated.
  await operation.end(outcome).catch((error: unknown) => {
    ctx.deps.logger.warn({ requestId: ctx.requestId, path, error }, 'the end of an operation was not registered')
  })
  return result
})

function wasRefused(error: TRPCError): boolean {
  if (error instanceof Refused || isRefusal(error.cause)) return true
  return error.code === 'BAD_REQUEST' && error.cause instanceof z.ZodError
}

const operatorOnly = t.middleware(async ({ ctx, next }) => {
  if (ctx.session?.isOperator !== true)
    throw new Refused({ code: 'FORBIDDEN', message: 'Only instance administrators can do this.' })
  if (ctx.deps.config.env === 'production' && ctx.session.secondFactor !== 'given')
    throw secondFactorNeeded('Instance administrators need two-factor authentication. Turn it on first.')
  return await next()
})

const base = t.procedure.use(withErrors)

/** No login needed: for the login itself. */
export const openProcedure = base.meta({ access: 'anyone', stepUp: false })

/** The second step of a login. */
export const codeProcedure = base.meta({ access: 'asked', stepUp: false }).use(codeAwaited)

/** Any logged-in person; no data of a workspace. */
export const ownProcedure = (options: { readonly stepUp?: true } = {}) =>
  base
    .meta({ access: 'signedIn', stepUp: options.stepUp === true })
    .use(signedIn)
    .use(steppedUp)

/** Changes the person's own account under an `opId`. */
export const ownMutation = (options: { readonly stepUp?: true } = {}) =>
  base
    .meta({ access: 'signedIn', stepUp: options.stepUp === true, once: true })
    .use(signedIn)
    .use(steppedUp)
    .input(actionInput)
    .use(carriedOutOnce)

/** Reads data of the workspace and mode in the input. */
export const workspaceQuery = (role: Role) =>
  base.meta({ access: role, stepUp: false }).use(signedIn).input(workspaceInput).use(member(role))

/** Changes data of the workspace and mode in the input; input carries `opId` and, if given, `reason`. */
export const workspaceMutation = (role: Role, options: { readonly stepUp?: StepUp } = {}) =>
  base
    .meta({ access: role, stepUp: options.stepUp ?? false, once: true })
    .use(signedIn)
    .input(workspaceInput)
    .use(member(role))
    .use(steppedUp)
    .input(actionInput)
    .use(carriedOutOnce)

/** Reads data of the installation. */
export const operatorQuery = () => base.meta({ access: 'operator', stepUp: false }).use(signedIn).use(operatorOnly)

/** Changes data of the installation. */
export const operatorMutation = (options: { readonly stepUp?: StepUp } = {}) =>
  base
    .meta({ access: 'operator', stepUp: options.stepUp ?? false, once: true })
    .use(signedIn)
    .use(operatorOnly)
    .use(steppedUp)
    .input(actionInput)
    .use(carriedOutOnce)
