import { z } from 'zod'
import { MODES, SCOPES } from '#shared/domain/enumerations.ts'
import { issueApiKey, withdrawApiKey } from '#shared/usecases/issue-api-key.ts'
import type { ApiKeyRecord } from '#shared/usecases/ports/tenancy.ts'
import { deedOf } from '../deed.ts'
import { router, workspaceDeed, workspaceQuery } from '../trpc.ts'

const key = z.object({
  id: z.string(),
  name: z.string().nullable(),
  mode: z.enum(MODES),
  last4: z.string(),
  scopes: z.array(z.string()),
  createdAt: z.number(),
  revokedAt: z.number().nullable(),
  /** A few minutes coarse; null until the key was used. */
  lastUsedAt: z.number().nullable(),
})

/** API keys of a workspace and mode. A key is in the answer that made it and nowhere else. */
export const apiKeysRouter = router({
  list: workspaceQuery('admin')
    .output(z.object({ items: z.array(key) }))
    .query(async ({ ctx: { deps, workspace }, input }) => {
      const keys = (await deps.apiKeys.list(workspace.id)).filter(({ mode }) => mode === input.mode)
      const newestFirst = [...keys].sort((one, other) => other.createdAt - one.createdAt)
      return { items: newestFirst.map(present) }
    }),

  create: workspaceDeed('admin', { stepUp: true })
    .input(
      z.object({ name: z.string().trim().min(1).max(60), scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length) }),
    )
    /** `apiKey` is null when this deed was done before: the key was in the first answer. */
    .output(z.object({ key, apiKey: z.string().nullable() }))
    .mutation(async ({ ctx, input }) => {
      const { mode, name, scopes } = input
      const facts = { workspaceId: ctx.workspace.id, mode, name, scopes, deed: deedOf(ctx, input) }
      const { record, apiKey } = await issueApiKey(ctx.deps, facts)
      return { key: present(record), apiKey }
    }),

  revoke: workspaceDeed('admin', { stepUp: true })
    .input(z.object({ keyId: z.uuid(), last4: z.string().trim().length(4) }))
    .output(key)
    .mutation(async ({ ctx, input }) => {
      const { mode, keyId, last4 } = input
      const facts = { workspaceId: ctx.workspace.id, mode, keyId, last4, deed: deedOf(ctx, input) }
      return present(await withdrawApiKey(ctx.deps, facts))
    }),
})

function present(record: ApiKeyRecord): z.output<typeof key> {
  const { id, mode, last4, scopes, createdAt, revokedAt, name = null, lastUsedAt = null } = record
  return { id, name, mode, last4, scopes: [...scopes], createdAt, revokedAt, lastUsedAt }
}
