import { randomUUID } from 'node:crypto'
import type { Database } from '#shared/db/connect.ts'
import { createMembershipRepository } from '#shared/db/membership-repository.ts'
import { createUserRepository } from '#shared/db/user-repository.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import { createPasswordHasher } from '#shared/runtime/password-hasher.ts'
import { createRandom } from '#shared/runtime/random.ts'
import { createOperator, newPassword } from '#shared/usecases/manage-operators.ts'

/** A person at the dashboard, as far as the server can tell: requests with a session cookie over HTTP. */
export interface BenchOperator {
  /** Asks a procedure; rejects when it is refused. */
  query<T>(path: string, input?: object): Promise<T>
  mutate<T>(path: string, input?: object): Promise<T>
}

/** Makes a person of a workspace and logs them in; every input gets the workspace and the mode. */
export async function logInOperator(
  db: Database,
  origin: string,
  scope: { readonly workspaceId: string; readonly mode: Mode },
): Promise<BenchOperator> {
  const random = createRandom(Date.now)
  const password = newPassword({ random })
  const email = `${randomUUID()}@example.com`
  await createOperator(
    {
      users: createUserRepository(db),
      memberships: createMembershipRepository(db),
      passwords: createPasswordHasher(),
      clock: { now: Date.now },
      random,
    },
    {
      ...{ email, name: 'Ana', password, isOperator: false, actor: 'bench' },
      member: { workspaceId: scope.workspaceId, role: 'owner' },
    },
  )
  const headers = { 'content-type': 'application/json', origin }
  const body = JSON.stringify({ email, password })
  const answer = await fetch(`${origin}/trpc/auth.logIn`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`the log-in was answered with ${answer.status}: ${await answer.text()}`)
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')
  const read = async <T>(path: string, response: Response): Promise<T> => {
    const { result, error } = (await response.json()) as { result?: { data: T }; error?: { message: string } }
    if (result === undefined) throw new Error(`${path}: ${error?.message}`)
    return result.data
  }
  return {
    query: async (path, input = {}) => {
      const wanted = encodeURIComponent(JSON.stringify({ ...scope, ...input }))
      return await read(path, await fetch(`${origin}/trpc/${path}?input=${wanted}`, { headers: { cookie } }))
    },
    mutate: async (path, input = {}) => {
      const deed = JSON.stringify({ ...scope, opId: randomUUID(), ...input })
      return await read(
        path,
        await fetch(`${origin}/trpc/${path}`, { method: 'POST', headers: { ...headers, cookie }, body: deed }),
      )
    },
  }
}
