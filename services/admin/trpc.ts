import { initTRPC, type TRPCError } from '@trpc/server'
import { z } from 'zod'
import { trimmedText } from '#shared/contracts/bounded-text.ts'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { holdMembership } from '#shared/db/accounts/membership-repository.ts'
import { whileActing } from '#shared/db/audit/audited.ts'
import { MODES, type WorkspaceStatus } from '#shared/domain/enumerations.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import { ROLES, type Role } from '#shared/ports/users.ts'
import { beginOperation, isRefusal } from '#shared/usecases/requests/begin-operation.ts'
import { requireStatus } from '#shared/usecases/workspaces/require-status.ts'
import type { AdminDeps } from './assemble.ts'
import type { Machine } from './machine.ts'
import { detailsOf, isOurs, publicMessage, Refusal, refusalOf, secondFactorNeeded, stepUpNeeded } from './refusals.ts'
import { NO_FIELDS, strictInput, strictly } from './strict-input.ts'
import type { Work } from './work-budgets.ts'

/** Context of a request for every procedure. Building it never throws: a bad cookie means no session. */
export interface AdminContext {
  readonly requestId: string
  readonly ip: string
  readonly userAgent: string
  readonly session: OperatorSession | null
  /** The person to whom the page that sends an action was shown; another may have logged in beside it. Absent where no page says so. */
  readonly shownTo?: string | string[] | undefined
  /** Who acts from the command line, and the guards that do not apply to them; absent for requests. */
  readonly machine?: Machine | undefined
  readonly deps: AdminDeps
  /** The device token that this browser got at an earlier login; null without one. */
  readonly device: string | null
  /** Replaces the session cookie of the response; null removes it. */
  setSessionToken(token: string | null): void
  /** Sets the device token of the browser. */
  setDevice(device: string): void
}

/**
 * Who may call a procedure. `anyone`: no login. `pending`: a password was entered and a code is awaited. `signedIn`: a session whose
 * second factor is complete, or not required yet. A role: at least that one in the workspace of the input. `operator`: instance
 * admins. Every check runs before the procedure's own input is read.
 */
export interface ProcedureMeta {
  readonly access: 'anyone' | 'pending' | 'signedIn' | 'operator' | Role
  /** When a TOTP code entered within the last minutes, in this very session, is required. */
  readonly stepUp: StepUp
  /** The last status of the workspace in which it works; null where no workspace is concerned. Decision 0099 has the table. */
  readonly worksWhile: WorkspaceStatus | null
  /** Changes something under an operation id of the client: `carriedOutOnce` runs before it. */
  readonly once?: true
  /**
   * Stores a session, or changes what sessions are decided on: refused when the security epoch of its person is raised while it waits, as
   * `routers/security-epoch.int.test.ts` tries with each. Only such a procedure can give the browser a session token.
   */
  readonly underEpoch?: true
  /** Expensive work, which counts against the budget of its person and begins after every other check. */
  readonly work?: Work
}

/**
 * `true`: always. `live`: unless the input is in test mode. `largeSum`: in live mode, when the missing part of what is accepted, or the
 * refunds of an invoice, are worth more than the workspace's threshold, which the procedure checks with `deciderOf`. Decision 0053 lists the
 * procedures.
 */
export type StepUp = boolean | 'live' | 'largeSum'

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
  if (cause instanceof PaymeshError) throw refusalOf(cause)
  if (result.error.code === 'INTERNAL_SERVER_ERROR') {
    ctx.deps.logger.error({ requestId: ctx.requestId, path, error: cause ?? result.error }, 'a procedure failed')
  }
  return result
})

/** Nothing reads an input of any depth or size. */
const boundedInput = t.middleware(async ({ getRawInput, next }) => {
  if (!isBounded(await getRawInput())) throw new Refusal({ code: 'BAD_REQUEST', message: 'The input is invalid.' })
  return await next()
})

/** There is a session, of the person to whom the page was shown, who has completed the second factor, if required. */
const signedIn = t.middleware(async ({ ctx, next }) => {
  const { session, shownTo = session?.userId } = ctx
  if (session === null || session.secondFactor === 'pending' || shownTo !== session.userId)
    throw new Refusal({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  return await next({ ctx: { session, actor: actorOf(ctx) } })
})

/** Who acts, as in the audit log. */
const actorOf = ({ machine, session }: Pick<AdminContext, 'machine' | 'session'>): string =>
  machine?.actor ?? `user:${session?.email}`

/** The password was entered, and a code comes next. */
const codeAwaited = t.middleware(async ({ ctx, next }) => {
  const { session } = ctx
  if (session?.secondFactor !== 'pending') throw new Refusal({ code: 'UNAUTHORIZED', message: 'Please log in.' })
  return await next({ ctx: { session } })
})

/** Only the mode is read before the procedure's own input is checked. */
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
export function demandStepUp({ session, deps, machine }: Pick<AdminContext, 'session' | 'deps' | 'machine'>): void {
  if (machine?.exempt.code === true) return
  if (session?.secondFactor !== 'given') throw secondFactorNeeded('Turn on two-factor authentication to do this.')
  const until = session.steppedUpUntil
  if (until === null || until < deps.clock.now()) throw stepUpNeeded()
}

const workspaceInput = z.object({ workspaceId: z.uuid(), mode: z.enum(MODES) })
/** `opId` identifies the operation: a repetition is done once. `reason` goes to the audit log. */
const actionInput = z.object({ opId: z.uuid(), reason: trimmedText(500).optional() })

/** Foreign and unknown workspaces give the same 404; an insufficient role and a status in which it no longer works give a 403. */
const member = (role: Role) =>
  t.middleware(async ({ ctx, input, meta, next }) => {
    const { workspaceId } = input as z.output<typeof workspaceInput>
    const isMember = ctx.machine?.exempt.membership !== true
    const held = isMember ? ctx.session?.roles.get(workspaceId) : ('owner' as const)
    const workspace = held === undefined ? null : await ctx.deps.workspaces.findById(workspaceId)
    if (held === undefined || workspace === null)
      throw new Refusal({ code: 'NOT_FOUND', message: 'Resource not found.' })
    const needsFactor = workspace.policy.requiresSecondFactor && ctx.machine?.exempt.code !== true
    if (needsFactor && ctx.session?.secondFactor !== 'given')
      throw secondFactorNeeded(`${workspace.name} requires two-factor authentication. Turn it on first.`)
    if (!allows(held, role))
      throw new Refusal({
        code: 'FORBIDDEN',
        message: `Requires the ${role.slice(0, 1).toUpperCase()}${role.slice(1)} role.`,
      })
    if (ctx.machine?.exempt.status !== true) requireStatus(workspace, meta?.worksWhile ?? 'active')
    const passed = () => next({ ctx: { workspace, role: held } })
    if (!isMember) return await passed()
    const acting = { workspaceId, userId: ctx.session?.userId ?? '', role: held }
    return await whileActing(holdMembership(acting), passed)
  })

/**
 * Takes a place in the budget of its person until the procedure has ended. Passwords count against the login, as their lane does, so that
 * a thief of a session does not keep its owner from a new password; without a session the token of the mailed link stands for its person.
 */
const withinBudget = t.middleware(async ({ ctx, input, meta, next }) => {
  if (meta?.work === undefined) return await next()
  const { token = ctx.ip } = (input ?? {}) as { readonly token?: string }
  const own = meta.work === 'hash' ? ctx.session?.loginId : ctx.session?.userId
  const leave = ctx.deps.budgets.enter(meta.work, own ?? token)
  try {
    return await next()
  } finally {
    leave()
  }
})

/**
 * Binds the client's `opId` to actor, procedure and input, and passes on an id derived from all of them. The same `opId` with anything
 * else is refused; a request that was refused leaves the `opId` free. Runs on the validated input.
 */
const carriedOutOnce = t.middleware(async ({ ctx, input, path, meta, next }) => {
  const given = input as z.output<typeof actionInput> & Partial<z.output<typeof workspaceInput>>
  const { opId, ...content } = given
  const actor = actorOf(ctx)
  const scope = given.workspaceId ?? (meta?.access === 'operator' ? 'installation' : `user:${ctx.session?.userId}`)
  const operation = await beginOperation(ctx.deps, { scope, opId, actor, procedure: path, content })
  const result = await next({ ctx: { operation }, input: { ...given, opId: operation.id } })
  const outcome = result.ok ? 'done' : wasRefused(result.error) ? 'refused' : 'unknown'
  // A completed operation stays completed, whether or not the register could be updated.
  await operation.end(outcome).catch((error: unknown) => {
    ctx.deps.logger.warn({ requestId: ctx.requestId, path, error }, 'the end of an operation was not registered')
  })
  return result
})

const wasRefused = (error: TRPCError): boolean => error instanceof Refusal || isRefusal(error.cause)

const operatorOnly = t.middleware(async ({ ctx, next }) => {
  if (ctx.machine?.exempt.membership === true) return await next()
  if (ctx.session?.isOperator !== true)
    throw new Refusal({ code: 'FORBIDDEN', message: 'Only instance administrators can do this.' })
  if (ctx.deps.config.env === 'production' && ctx.session.secondFactor !== 'given')
    throw secondFactorNeeded('Instance administrators need two-factor authentication. Turn it on first.')
  return await next()
})

/** A procedure that does not declare that it stores sessions can only remove the cookie. */
const tokensUnderEpoch = t.middleware(async ({ ctx, meta, path, next }) => {
  if (meta?.underEpoch === true) return await next()
  const setSessionToken = (token: string | null) => {
    if (token !== null) throw new Error(`${path} gives out a session and does not declare underEpoch`)
    ctx.setSessionToken(null)
  }
  return await next({ ctx: { setSessionToken } })
})

const base = t.procedure.use(withErrors).use(boundedInput).use(tokensUnderEpoch)

interface OwnOptions {
  readonly stepUp?: boolean
  readonly work?: Work
}

const ANYONE = { access: 'anyone', stepUp: false, worksWhile: null } as const

/** No login needed. */
export const openProcedure = strictly((own) => base.meta(ANYONE).input(strictInput(NO_FIELDS, own)))

/** No login needed, and `underEpoch`. */
export function openDecision(options: Pick<OwnOptions, 'work'> = {}) {
  const open = base.meta({ ...ANYONE, ...options, underEpoch: true })
  return strictly((own) => open.input(strictInput(NO_FIELDS, own)).use(withinBudget))
}

/** The second step of a login. */
export const codeProcedure = strictly((own) =>
  base
    .meta({ access: 'pending', stepUp: false, worksWhile: null, underEpoch: true })
    .use(codeAwaited)
    .input(strictInput(NO_FIELDS, own)),
)

/** Any logged-in person; no data of a workspace. */
export function ownProcedure({ stepUp = false, ...options }: OwnOptions = {}) {
  const open = base
    .meta({ ...options, access: 'signedIn', stepUp, worksWhile: null })
    .use(signedIn)
    .use(steppedUp)
  return strictly((own) => open.input(strictInput(NO_FIELDS, own)).use(withinBudget))
}

/** Any logged-in person; changes what their own sessions are decided on, `underEpoch`. */
export function ownDecision(options: Pick<OwnOptions, 'work'> = {}) {
  const open = base
    .meta({ ...options, access: 'signedIn', stepUp: false, worksWhile: null, underEpoch: true })
    .use(signedIn)
  return strictly((own) => open.input(strictInput(NO_FIELDS, own)).use(withinBudget))
}

/** Changes the person's own account under an `opId`, and `underEpoch`. */
export function ownMutation({ stepUp = false, ...options }: OwnOptions = {}) {
  const open = base
    .meta({ ...options, access: 'signedIn', stepUp, worksWhile: null, once: true, underEpoch: true })
    .use(signedIn)
    .use(steppedUp)
  return strictly((own) => open.input(strictInput(actionInput, own)).use(withinBudget).use(carriedOutOnce))
}

/** Reads data of the workspace and mode in the input, whatever the status of the workspace. */
export function workspaceQuery(role: Role, options: Pick<OwnOptions, 'work'> = {}) {
  const open = base
    .meta({ ...options, access: role, stepUp: false, worksWhile: 'suspended' })
    .use(signedIn)
    .input(workspaceInput)
    .use(member(role))
  return strictly((own) => open.input(strictInput(workspaceInput, own)).use(withinBudget))
}

interface ActionOptions {
  readonly worksWhile: WorkspaceStatus
  readonly stepUp?: StepUp
  readonly work?: Work
}

/** Changes data of the workspace and mode in the input; input carries `opId` and, if given, `reason`. */
export function workspaceMutation(role: Role, { stepUp = false, ...options }: ActionOptions) {
  const open = base
    .meta({ ...options, access: role, stepUp, once: true })
    .use(signedIn)
    .input(workspaceInput)
    .use(member(role))
    .use(steppedUp)
  const known = actionInput.extend(workspaceInput.shape)
  return strictly((own) => open.input(strictInput(known, own)).use(withinBudget).use(carriedOutOnce))
}

/** Reads data of the installation. */
export function operatorQuery() {
  const open = base.meta({ access: 'operator', stepUp: false, worksWhile: null }).use(signedIn).use(operatorOnly)
  return strictly((own) => open.input(strictInput(NO_FIELDS, own)))
}

/** Changes data of the installation. */
export function operatorMutation({ stepUp = false }: { readonly stepUp?: StepUp } = {}) {
  const open = base
    .meta({ access: 'operator', stepUp, worksWhile: null, once: true })
    .use(signedIn)
    .use(operatorOnly)
    .use(steppedUp)
  return strictly((own) => open.input(strictInput(actionInput, own)).use(carriedOutOnce))
}

/** Whether a person with the role `held` may do something that requires `needed`. Each role includes the rights of the following ones. */
function allows(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed)
}

/** The deepest input of a procedure, the confirmations of an asset by value, has 6 levels. */
const DEPTH_MAX = 10
/** A wallet of 10,000 addresses is proved by as many objects with two texts each. */
const VALUES_MAX = 50_000

/**
 * Whether a parsed JSON value has at most 10 levels and 50,000 values and names no `__proto__`. Reads no more of a larger one than that,
 * and does not recurse: nothing may look into an input before this does.
 */
export function isBounded(input: unknown): boolean {
  const rest: { readonly value: unknown; readonly depth: number }[] = [{ value: input, depth: 1 }]
  let values = 1
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, depth } = next
    if (typeof value !== 'object' || value === null) continue
    if (depth > DEPTH_MAX || Object.hasOwn(value, '__proto__')) return false
    const inner: unknown[] = Object.values(value)
    values += inner.length
    if (values > VALUES_MAX) return false
    for (const one of inner) rest.push({ value: one, depth: depth + 1 })
  }
  return true
}
