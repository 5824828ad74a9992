import { z } from 'zod'
import { boundedText, trimmedText } from '#shared/contracts/bounded-text.ts'
import { WORKSPACE_STATUSES } from '#shared/domain/enumerations.ts'
import { ROLES } from '#shared/ports/users.ts'
import { addressGroup } from '#shared/runtime/http/http-server.ts'
import { acceptInvitation, readInvitation } from '#shared/usecases/accounts/accept-invitation.ts'
import type { Origin } from '#shared/usecases/accounts/account-deps.ts'
import { changePassword } from '#shared/usecases/accounts/change-password.ts'
import {
  beginEnrolment,
  confirmEnrolment,
  removeAuthenticator,
  renewRecoveryCodes,
} from '#shared/usecases/accounts/enrol-authenticator.ts'
import { endOwnSessions, type LoggedIn, logIn, logOut } from '#shared/usecases/accounts/log-in.ts'
import { lives } from '#shared/usecases/accounts/operator-sessions.ts'
import { completePasswordReset, requestPasswordReset } from '#shared/usecases/accounts/reset-own-password.ts'
import { giveCode, giveRecoveryCode, personOf, stepUp } from '#shared/usecases/accounts/second-factor.ts'
import {
  type AdminContext,
  codeProcedure,
  openDecision,
  openProcedure,
  ownDecision,
  ownMutation,
  ownProcedure,
  router,
} from '../trpc.ts'

const password = boundedText(200).min(1)
const code = trimmedText(40).min(1)
const token = boundedText(43).regex(/^[A-Za-z0-9_-]{43}$/)
const recoveryCodes = z.array(z.string())

/** `code`: a code is required before anything else. */
const next = z.object({ next: z.enum(['code', 'done']) })

/** Login, second factor, own sessions. Only this router sets cookies. */
export const authRouter = router({
  /** State of this browser: `out`, `code` (password entered) or `in`. */
  state: openProcedure.output(z.object({ state: z.enum(['out', 'code', 'in']) })).query(({ ctx: { session } }) => ({
    state: session === null ? 'out' : session.secondFactor === 'pending' ? 'code' : 'in',
  })),

  logIn: openDecision()
    .input(z.object({ email: boundedText(254).min(1), password }))
    .output(next)
    .mutation(async ({ ctx, input, signal }) =>
      enter(ctx, await logIn(ctx.deps, { ...input, origin: originOf(ctx), signal })),
    ),

  giveCode: codeProcedure
    .input(z.object({ code }))
    .output(next)
    .mutation(async ({ ctx, input }) =>
      enter(ctx, await giveCode(ctx.deps, ctx.session, { code: input.code, origin: originOf(ctx) })),
    ),

  giveRecoveryCode: codeProcedure
    .input(z.object({ code }))
    .output(next)
    .mutation(async ({ ctx, input }) =>
      enter(ctx, await giveRecoveryCode(ctx.deps, ctx.session, { code: input.code, origin: originOf(ctx) })),
    ),

  logOut: openProcedure
    .input(z.object({}))
    .output(z.object({}))
    .mutation(async ({ ctx }) => {
      if (ctx.session !== null) await logOut(ctx.deps, ctx.session)
      ctx.setSessionToken(null)
      return {}
    }),

  me: ownProcedure()
    .output(
      z.object({
        userId: z.string(),
        email: z.string(),
        name: z.string(),
        isOperator: z.boolean(),
        hasAuthenticator: z.boolean(),
        /** Until when dangerous actions need no further code; null = they do. */
        steppedUpUntil: z.number().nullable(),
        workspaces: z.array(
          z.object({
            id: z.string(),
            name: z.string(),
            role: z.enum(ROLES),
            status: z.enum(WORKSPACE_STATUSES),
            /** Nothing of it is shown until this person has an authenticator. */
            needsAuthenticator: z.boolean(),
            /** Of the workspace's days and months; empty until a browser gave its own. */
            timeZone: z.string(),
          }),
        ),
      }),
    )
    .query(async ({ ctx: { session, deps } }) => {
      const workspaces = await deps.workspaces.findMany([...session.roles.keys()])
      const { userId, email, name, isOperator, steppedUpUntil, secondFactor } = session
      const hasAuthenticator = secondFactor === 'given'
      const places = workspaces.flatMap(({ id, name: title, status, policy }) => {
        const role = session.roles.get(id)
        const needsAuthenticator = policy.requiresSecondFactor && !hasAuthenticator
        return role === undefined
          ? []
          : [{ id, name: title, role, status, needsAuthenticator, timeZone: policy.timeZone }]
      })
      const sorted = places.sort((one, other) => one.name.localeCompare(other.name))
      return { userId, email, name, isOperator, hasAuthenticator, steppedUpUntil, workspaces: sorted }
    }),

  stepUp: ownDecision()
    .input(z.object({ code }))
    .output(z.object({ until: z.number() }))
    .mutation(async ({ ctx, input }) => {
      const { token: fresh, until } = await stepUp(ctx.deps, ctx.session, input.code)
      ctx.setSessionToken(fresh)
      return { until }
    }),

  beginEnrolment: ownDecision({ work: 'hash' })
    .input(z.object({ password, code: code.nullable() }))
    .output(z.object({ secret: z.string(), uri: z.string() }))
    .mutation(
      async ({ ctx, input }) => await beginEnrolment(ctx.deps, ctx.session, { ...input, origin: originOf(ctx) }),
    ),

  confirmEnrolment: ownDecision()
    .input(z.object({ code }))
    .output(z.object({ recoveryCodes }))
    .mutation(async ({ ctx, input }) => {
      const { token: fresh, recoveryCodes: codes } = await confirmEnrolment(ctx.deps, ctx.session, {
        ...input,
        origin: originOf(ctx),
      })
      ctx.setSessionToken(fresh)
      return { recoveryCodes: [...codes] }
    }),

  removeAuthenticator: ownMutation({ stepUp: true })
    .output(z.object({}))
    .mutation(async ({ ctx }) => {
      if (ctx.operation.isDone) return {}
      ctx.setSessionToken((await removeAuthenticator(ctx.deps, ctx.session, originOf(ctx))).token)
      return {}
    }),

  renewRecoveryCodes: ownMutation({ stepUp: true })
    .output(z.object({ recoveryCodes }))
    .mutation(async ({ ctx }) => ({
      recoveryCodes: [...(await renewRecoveryCodes(ctx.deps, ctx.session, ctx.operation))],
    })),

  /** How many recovery codes are left, and when the authenticator was set up. */
  security: ownProcedure()
    .output(z.object({ authenticatorSince: z.number().nullable(), recoveryCodesLeft: z.number() }))
    .query(async ({ ctx }) => {
      const { totp, recoveryHashes } = await personOf(ctx.deps, ctx.session)
      return { authenticatorSince: totp?.since ?? null, recoveryCodesLeft: recoveryHashes.length }
    }),

  changePassword: ownDecision({ work: 'hash' })
    .input(z.object({ password, next: password }))
    .output(z.object({}))
    .mutation(async ({ ctx, input }) => {
      ctx.setSessionToken((await changePassword(ctx.deps, ctx.session, { ...input, origin: originOf(ctx) })).token)
      return {}
    }),

  sessions: ownProcedure()
    .output(
      z.array(
        z.object({
          loginId: z.string(),
          isThis: z.boolean(),
          ip: z.string(),
          userAgent: z.string(),
          loggedInAt: z.number(),
          seenAt: z.number(),
        }),
      ),
    )
    .query(async ({ ctx: { session, deps } }) => {
      const found = await deps.sessions.listByUser(session.userId)
      const now = deps.clock.now()
      return found
        .filter((one) => lives(one, now))
        .map(({ loginId, ip, userAgent, loggedInAt, seenAt }) => {
          return { loginId, isThis: loginId === session.loginId, ip, userAgent, loggedInAt, seenAt }
        })
    }),

  /** Ends one of the person's own logins, or with null all but this one. */
  endSessions: ownDecision()
    .input(z.object({ loginId: z.uuid().nullable() }))
    .output(z.object({ ended: z.number() }))
    .mutation(async ({ ctx: { deps, session }, input }) => ({
      ended: await endOwnSessions(deps, session, input.loginId),
    })),

  /** Mails a link for a new password; the answer is the same for every address. */
  requestReset: openProcedure
    .input(z.object({ email: boundedText(254).min(1) }))
    .output(z.object({}))
    .mutation(async ({ ctx, input: { email } }) => {
      const { publicUrl } = ctx.deps.config.admin
      await requestPasswordReset(ctx.deps, { email, origin: originOf(ctx), publicUrl })
      return {}
    }),

  resetPassword: openDecision({ work: 'link' })
    .input(z.object({ token, password }))
    .output(z.object({}))
    .mutation(async ({ ctx, input, signal }) => {
      await completePasswordReset(ctx.deps, { ...input, origin: originOf(ctx), signal })
      return {}
    }),

  /** The invitation behind a link. */
  invitation: openProcedure
    .input(z.object({ token }))
    .output(z.object({ workspaceName: z.string(), email: z.string(), role: z.enum(ROLES), mustLogIn: z.boolean() }))
    .query(async ({ ctx, input, signal }) => {
      const tried = { ...input, origin: originOf(ctx), signal }
      const { invitation, workspace, person } = await readInvitation(ctx.deps, tried)
      const mustLogIn = person !== null && (ctx.session === null || ctx.session.userId !== person.id)
      return { workspaceName: workspace.name, email: invitation.email, role: invitation.role, mustLogIn }
    }),

  acceptInvitation: openDecision({ work: 'link' })
    .input(z.object({ token, name: boundedText(120).nullable(), password: password.nullable() }))
    .output(z.object({ workspaceId: z.string() }))
    .mutation(async ({ ctx, input, signal }) => {
      const session = ctx.session?.secondFactor === 'pending' ? null : ctx.session
      const tried = { ...input, session, origin: originOf(ctx), signal }
      const { workspaceId, loggedIn } = await acceptInvitation(ctx.deps, tried)
      if (loggedIn !== null) enter(ctx, loggedIn)
      return { workspaceId }
    }),
})

function originOf({ ip, userAgent, device }: AdminContext): Origin {
  return { ip, group: addressGroup(ip), userAgent, device }
}

function enter(ctx: AdminContext, { token: fresh, secondFactor, device }: LoggedIn): z.output<typeof next> {
  ctx.setSessionToken(fresh)
  if (device !== null) ctx.setDevice(device)
  return { next: secondFactor === 'pending' ? 'code' : 'done' }
}
