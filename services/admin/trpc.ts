import { initTRPC, type TRPC_ERROR_CODE_KEY, TRPCError } from '@trpc/server'
import { z } from 'zod'
import { type ErrorDetail, PaymeshError } from '#shared/contracts/errors.ts'
import { MODES } from '#shared/domain/enumerations.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { Role } from '#shared/ports/users.ts'
import { beginOperation, isRefusal } from '#shared/usecases/requests/begin-operation.ts'
import type { AdminDeps } from './admin-deps.ts'
import { allows } from './roles.ts'

/** What every procedure knows of its request. Building it never throws: a bad cookie is no session. */
export interface AdminContext {
  readonly requestId: string
  readonly ip: string
  readonly userAgent: string
  readonly session: OperatorSession | null
  readonly deps: AdminDeps
  /** The mark this browser was given at an earlier log-in; null when it has none. */
  readonly device: string | null
  /** Replaces the session cookie of the answer; null ends it. */
  setSessionToken(token: string | null): void
  /** Gives the browser its mark. */
  setDevice(device: string): void
}

/**
 * Who may call a procedure. `anyone`: no log-in. `asked`: a password was given and a code is awaited. `signedIn`: a session whose
 * second factor is given, or not demanded yet. A role: at least that one in the workspace of the input. `operator`: people who run
 * this installation. Every check runs before the procedure's own input is read.
 */
export interface ProcedureMeta {
  readonly access: 'anyone' | 'asked' | 'signedIn' | 'operator' | Role
  /** When a TOTP code within the last minutes, in this very session, is needed. */
  readonly stepUp: StepUp
  /** Changes something under an operation id of the client: `carriedOutOnce` stands before it. */
  readonly once?: true
}

/**
 * `true`: always. `live`: unless the input says test mode. `shortfall`: in live mode, when what is accepted is short by more than the
 * workspace's threshold, which the procedure checks by `demandStepUp`. Which procedure asks for which is in decision 0053.
 */
export type StepUp = boolean | 'live' | 'shortfall'

/** The longest life of a live view's connection; its page comes back by itself. */
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
        /** Null where the caller's text, which may be no name of ours, would stand. */
        path: isOurs(error) ? (shape.data.path ?? null) : null,
        requestId: ctx?.requestId ?? null,
        /** Code of the one error table; null for faults of the transport. */
        errorCode: error.cause instanceof PaymeshError ? error.cause.code : null,
        details: detailsOf(error),
      },
    }),
  })

export const router = t.router
export const mergeRouters = t.mergeRouters
export const createCallerFactory = t.createCallerFactory

/** A refusal in words of ours. What the transport says by itself quotes its caller, who may have taken a secret for a name. */
export class Refused extends TRPCError {}

/** What is said in the transport's place. */
const TRANSPORT_WORDS: Partial<Record<TRPC_ERROR_CODE_KEY, string>> = {
  NOT_FOUND: 'There is no such procedure.',
  METHOD_NOT_SUPPORTED: 'This procedure is called by another method.',
}

/** A procedure of ours was reached and refused or failed. */
function isOurs(error: TRPCError): boolean {
  const { code, cause } = error
  if (error instanceof Refused || code === 'INTERNAL_SERVER_ERROR') return true
  return cause instanceof PaymeshError || cause instanceof z.ZodError
}

function publicMessage(error: TRPCError): string {
  if (error.code === 'INTERNAL_SERVER_ERROR') return 'Something went wrong on our side.'
  if (error.cause instanceof z.ZodError) return 'The input is invalid.'
  return isOurs(error) ? error.message : (TRANSPORT_WORDS[error.code] ?? 'This request cannot be read.')
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

/** Our own errors leave with their status; anything else is logged and becomes an internal error. */
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

/** A session is there and its person has given the second factor, where there is one. */
const signedIn = t.middleware(async ({ ctx, next }) => {
  const { session } = ctx
  if (session === null || session.secondFactor === 'asked')
    throw new Refused({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  return await next({ ctx: { session, actor: `user:${session.email}` } })
})

/** The password was given, and a code is what comes next. */
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

/** Only an input that says so is of test mode. */
function isTest(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'mode' in input && input.mode === 'test'
}

/** Throws `FORBIDDEN` unless this session gave a code in the last minutes; the page then asks for one, or for an authenticator. */
export function demandStepUp({ session, deps }: Pick<AdminContext, 'session' | 'deps'>): void {
  if (session?.secondFactor !== 'given') throw secondFactorNeeded('This needs an authenticator: set one up first.')
  const until = session.steppedUpUntil
  if (until === null || until < deps.clock.now()) throw forbidden(STEP_UP_WORDS, 'stepUp')
}

const STEP_UP_WORDS = 'Confirm this with a code of your authenticator.'

/** The page offers to set up an authenticator. */
function secondFactorNeeded(message: string): PaymeshError {
  return forbidden(message, 'secondFactor')
}

/** A refusal that the page can do something about: it asks for what `path` names and repeats the call. */
function forbidden(message: string, path: 'stepUp' | 'secondFactor'): PaymeshError {
  return new PaymeshError('FORBIDDEN_SCOPE', { message, details: [{ path, message: 'needed' }] })
}

const workspaceInput = z.object({ workspaceId: z.uuid(), mode: z.enum(MODES) })
/** `opId` names the operation: the same one sent twice is done once. `reason` goes to the audit trail. */
const deedInput = z.object({ opId: z.uuid(), reason: z.string().trim().max(500).optional() })

/** Foreign and unknown workspaces are the same 404; too small a role is a 403. */
const member = (role: Role) =>
  t.middleware(async ({ ctx, input, next }) => {
    const { workspaceId } = input as z.output<typeof workspaceInput>
    const held = ctx.session?.roles.get(workspaceId)
    const workspace = held === undefined ? null : await ctx.deps.workspaces.findById(workspaceId)
    if (held === undefined || workspace === null)
      throw new Refused({ code: 'NOT_FOUND', message: 'There is no such resource.' })
    if (workspace.policy.requiresSecondFactor === true && ctx.session?.secondFactor !== 'given')
      throw secondFactorNeeded(`${workspace.name} wants its members to have an authenticator: set one up first.`)
    if (!allows(held, role)) throw new Refused({ code: 'FORBIDDEN', message: `This needs the role ${role}.` })
    return await next({ ctx: { workspace, role: held } })
  })

/**
 * Binds the client's `opId` to actor, procedure and input, and hands on an id made of all of them. The same `opId` with anything
 * else is refused; a request that was refused leaves the `opId` free.
 */
const carriedOutOnce = t.middleware(async ({ ctx, input, path, meta, getRawInput, next }) => {
  const given = input as z.output<typeof deedInput> & Partial<z.output<typeof workspaceInput>>
  const { opId: _opId, ...content } = (await getRawInput()) as Readonly<Record<string, unknown>>
  const actor = `user:${ctx.session?.email}`
  const scope = given.workspaceId ?? (meta?.access === 'operator' ? 'installation' : `user:${ctx.session?.userId}`)
  const asked = { scope, opId: given.opId, actor, procedure: path, content }
  const operation = await beginOperation(ctx.deps, asked)
  const result = await next({ ctx: { operation }, input: { ...given, opId: operation.id } })
  const outcome = result.ok ? 'done' : wasRefused(result.error) ? 'refused' : 'unknown'
  // What was carried out stays carried out, whether or not the register could be told.
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
    throw new Refused({ code: 'FORBIDDEN', message: 'Only for people who run this installation.' })
  if (ctx.deps.config.env === 'production' && ctx.session.secondFactor !== 'given')
    throw secondFactorNeeded('Who runs an installation needs an authenticator: set one up first.')
  return await next()
})

const base = t.procedure.use(withErrors)

/** No log-in needed: the log-in itself. */
export const openProcedure = base.meta({ access: 'anyone', stepUp: false })

/** The second half of a log-in. */
export const codeProcedure = base.meta({ access: 'asked', stepUp: false }).use(codeAwaited)

/** Any person who is logged in; nothing of a workspace. */
export const ownProcedure = (options: { readonly stepUp?: true } = {}) =>
  base
    .meta({ access: 'signedIn', stepUp: options.stepUp === true })
    .use(signedIn)
    .use(steppedUp)

/** Changes something of a person's own log-in under an `opId`. */
export const ownDeed = (options: { readonly stepUp?: true } = {}) =>
  base
    .meta({ access: 'signedIn', stepUp: options.stepUp === true, once: true })
    .use(signedIn)
    .use(steppedUp)
    .input(deedInput)
    .use(carriedOutOnce)

/** Reads something of the workspace and mode in the input. */
export const workspaceQuery = (role: Role) =>
  base.meta({ access: role, stepUp: false }).use(signedIn).input(workspaceInput).use(member(role))

/** Changes something of the workspace and mode in the input; input carries `opId` and, where given, `reason`. */
export const workspaceDeed = (role: Role, options: { readonly stepUp?: StepUp } = {}) =>
  base
    .meta({ access: role, stepUp: options.stepUp ?? false, once: true })
    .use(signedIn)
    .input(workspaceInput)
    .use(member(role))
    .use(steppedUp)
    .input(deedInput)
    .use(carriedOutOnce)

/** Reads something of the installation. */
export const operatorQuery = () => base.meta({ access: 'operator', stepUp: false }).use(signedIn).use(operatorOnly)

/** Changes something of the installation. */
export const operatorDeed = (options: { readonly stepUp?: StepUp } = {}) =>
  base
    .meta({ access: 'operator', stepUp: options.stepUp ?? false, once: true })
    .use(signedIn)
    .use(operatorOnly)
    .use(steppedUp)
    .input(deedInput)
    .use(carriedOutOnce)
