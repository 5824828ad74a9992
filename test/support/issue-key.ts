import { issueApiKey } from '#shared/usecases/workspaces/issue-api-key.ts'

type Request = Omit<Parameters<typeof issueApiKey>[1], 'action'> & { readonly actor: string }

/** Issues a key under a new operation, so that the key itself is there. */
export async function issueKey(deps: Parameters<typeof issueApiKey>[0], { actor, ...request }: Request) {
  const action = { opId: deps.random.uuid(), actor, reason: null }
  const { record, apiKey } = await issueApiKey(deps, { ...request, action })
  if (apiKey === null) throw new Error('a new key was issued before')
  return { record, apiKey }
}
