import { z } from 'zod'
import { trimmedText } from '#shared/contracts/bounded-text.ts'
import { invalid } from '#shared/contracts/http/validate.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import { issueApiKey, withdrawApiKey } from '#shared/usecases/workspaces/issue-api-key.ts'
import { actionOf } from '../action.ts'
import { announced } from '../announced.ts'
import { router, workspaceMutation, workspaceQuery } from '../trpc.ts'
import { apiKeyToWire, apiKeyWire } from '../wire/api-key-wire.ts'

/** API keys of a workspace and mode. A key is in the response that created it and nowhere else. */
export const apiKeysRouter = router({
  list: workspaceQuery('admin')
    .output(z.object({ items: z.array(apiKeyWire) }))
    .query(async ({ ctx: { deps, workspace }, input }) => {
      const keys = (await deps.apiKeys.list(workspace.id)).filter(({ mode }) => mode === input.mode)
      const newestFirst = [...keys].sort((one, other) => other.createdAt - one.createdAt)
      return { items: newestFirst.map(apiKeyToWire) }
    }),

  create: workspaceMutation('admin', { worksWhile: 'restricted', stepUp: true })
    .input(
      z.object({ name: trimmedText(60).min(1).optional(), scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length) }),
    )
    /** `apiKey` is null when this action was done before: the key was in the first response. */
    .output(z.object({ key: apiKeyWire, apiKey: z.string().nullable() }))
    .mutation(async ({ ctx, input }) => {
      const { mode, name, scopes } = input
      const facts = { workspaceId: ctx.workspace.id, mode, name, scopes, action: actionOf(ctx, input) }
      const { record, apiKey } = await issueApiKey({ ...ctx.deps, ...announced(ctx) }, facts)
      return { key: apiKeyToWire(record), apiKey }
    }),

  revoke: workspaceMutation('admin', { worksWhile: 'suspended', stepUp: true })
    /** Only the command line leaves `last4` out: a page has the person type it. */
    .input(z.object({ keyId: z.uuid(), last4: trimmedText(4).length(4).optional() }))
    .output(apiKeyWire)
    .mutation(async ({ ctx, input }) => {
      const { mode, keyId, last4 } = input
      if (last4 === undefined && ctx.machine === undefined)
        throw invalid([{ path: 'last4', message: 'enter the last four characters' }])
      const facts = { workspaceId: ctx.workspace.id, mode, keyId, last4, action: actionOf(ctx, input) }
      return apiKeyToWire(await withdrawApiKey({ ...ctx.deps, ...announced(ctx) }, facts))
    }),
})
