import type { Ms } from '#shared/domain/invoice/model.ts'
import type { ActingSession, Role } from './users.ts'

export type { Session } from '#shared/db/accounts/operator-models.ts'

/** A valid session, as procedures see it. */
export interface OperatorSession extends ActingSession {
  /** The login it began with; unchanged when the token is replaced. */
  readonly loginId: string
  readonly email: string
  readonly name: string
  /** Instance admin: sees chains, queues, rates, processes and the audit log of everything. */
  readonly isOperator: boolean
  /** Role by workspace id. */
  readonly roles: ReadonlyMap<string, Role>
  /** `none`: this person has no authenticator. `pending`: password entered, code not yet. `given`: both. */
  readonly secondFactor: 'none' | 'pending' | 'given'
  /** A code was entered for dangerous actions, which are allowed until then. */
  readonly steppedUpUntil: Ms | null
}
