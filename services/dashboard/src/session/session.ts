import { createContext, use } from 'react'
import type { WorkspaceStatus } from '#shared/domain/enumerations.ts'
import type { Role } from './roles.ts'

/** A workspace the signed-in person belongs to. */
export interface Membership {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly status: WorkspaceStatus
  /** Nothing of it is shown until this person has an authenticator. */
  readonly needsAuthenticator: boolean
  /** Of the workspace's days and months; empty until a browser gave its own. */
  readonly timeZone: string
}

/** The signed-in person. The server checks every call again; the page only hides what would be refused. */
export interface Session {
  readonly userId: string
  readonly email: string
  readonly name: string
  readonly isOperator: boolean
  readonly hasAuthenticator: boolean
  readonly workspaces: readonly Membership[]
}

export const SessionContext = createContext<Session | null>(null)

/** The signed-in person. Throws outside the session guard, which is around every page but the login. */
export function useSession(): Session {
  const session = use(SessionContext)
  if (session === null) throw new Error('useSession outside of the session guard')
  return session
}
