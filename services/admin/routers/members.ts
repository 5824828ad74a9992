import { z } from 'zod'
import { boundedText } from '#shared/contracts/bounded-text.ts'
import type { Invitation } from '#shared/ports/invitations.ts'
import { ROLES } from '#shared/ports/users.ts'
import { changeMember } from '#shared/usecases/accounts/change-member.ts'
import { inviteMember, withdrawInvitation } from '#shared/usecases/accounts/invite-member.ts'
import { keysOfMember } from '#shared/usecases/workspaces/keys-of-member.ts'
import { actionOf } from '../action.ts'
import { announced } from '../announced.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { apiKeyToWire, apiKeyWire } from '../wire/api-key-wire.ts'

const role = z.enum(ROLES)
const invitation = z.object({
  id: z.string(),
  email: z.string(),
  role,
  invitedBy: z.string(),
  createdAt: z.number(),
  expiresAt: z.number(),
})

/** Members of a workspace. A new role applies from that person's next request on. */
export const membersRouter = router({
  list: workspaceQuery('viewer')
    .output(
      z.object({
        members: z.array(
          z.object({
            userId: z.string(),
            email: z.string(),
            name: z.string(),
            role,
            since: z.number(),
            hasAuthenticator: z.boolean(),
            isYou: z.boolean(),
          }),
        ),
        invitations: z.array(invitation),
      }),
    )
    .query(async ({ ctx: { deps, workspace, session } }) => {
      const [memberships, invitations] = await Promise.all([
        deps.memberships.list(workspace.id),
        deps.invitations.listOpen(workspace.id, deps.clock.now()),
      ])
      const users = await deps.users.findMany(memberships.map(({ userId }) => userId))
      const byId = new Map(users.map((user) => [user.id, user]))
      const members = memberships.flatMap(({ userId, role: held, since }) => {
        const user = byId.get(userId)
        if (user === undefined) return []
        const { email, name, totp } = user
        return [
          { userId, email, name, role: held, since, hasAuthenticator: totp !== null, isYou: userId === session.userId },
        ]
      })
      const rank = (one: (typeof members)[number]) => ROLES.indexOf(one.role)
      members.sort((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name))
      return { members, invitations: invitations.map(presentInvitation) }
    }),

  invite: workspaceMutation('owner', { worksWhile: 'restricted', stepUp: true })
    .input(z.object({ email: boundedText(254).min(1), role }))
    .output(invitation)
    .mutation(async ({ ctx, input }) => {
      const { deps, workspace, session } = ctx
      const { email, role: wanted } = input
      const publicUrl = deps.config.admin.publicUrl
      const facts = { workspace, email, role: wanted, inviter: { id: session.userId, name: session.name }, publicUrl }
      return presentInvitation(
        await inviteMember({ ...deps, ...announced(ctx) }, { ...facts, action: actionOf(ctx, input) }),
      )
    }),

  withdrawInvitation: workspaceMutation('owner', { worksWhile: 'suspended', stepUp: true })
    .input(z.object({ invitationId: z.uuid() }))
    .output(invitation)
    .mutation(async ({ ctx, input }) => {
      const { invitationId } = input
      const about = { workspaceId: ctx.workspace.id, invitationId, action: actionOf(ctx, input) }
      return presentInvitation(await withdrawInvitation({ ...ctx.deps, ...announced(ctx) }, about))
    }),

  setRole: workspaceMutation('owner', { worksWhile: 'suspended', stepUp: true })
    .input(z.object({ userId: z.uuid(), from: role, to: role }))
    .output(z.object({}))
    .mutation(async ({ ctx, input }) => {
      const { userId, from, to } = input
      const change = { workspaceId: ctx.workspace.id, userId, from, to, action: actionOf(ctx, input) }
      await changeMember({ ...ctx.deps, ...announced(ctx) }, change)
      return {}
    }),

  remove: workspaceMutation('owner', { worksWhile: 'suspended', stepUp: true })
    .input(z.object({ userId: z.uuid(), from: role }))
    /** `keys`: API keys that this person created and that are still active, of both modes. */
    .output(z.object({ keys: z.array(apiKeyWire) }))
    .mutation(async ({ ctx, input }) => {
      const { userId, from } = input
      const about = { workspaceId: ctx.workspace.id, userId }
      const change = { ...about, from, to: null, action: actionOf(ctx, input) }
      await changeMember({ ...ctx.deps, ...announced(ctx) }, change)
      return { keys: (await keysOfMember(ctx.deps, about)).map(apiKeyToWire) }
    }),
})

function presentInvitation({ id, email, role: wanted, invitedBy, createdAt, expiresAt }: Invitation) {
  return { id, email, role: wanted, invitedBy, createdAt, expiresAt }
}
