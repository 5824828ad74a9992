import type { Ms } from '#shared/domain/invoice/model.ts'

/** What a person may do in a workspace, most first: each may do all that the ones behind it may. */
export const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** A log-in that lives, as procedures see it. */
export interface OperatorSession {
  /** Hash of the token in the cookie. */
  readonly id: string
  readonly userId: string
  readonly email: string
  readonly name: string
  /** Runs the installation: sees chains, queues, rates, processes and the audit trail of everything. */
  readonly isOperator: boolean
  /** Role by workspace id. */
  readonly roles: ReadonlyMap<string, Role>
  /** `none`: this person has no authenticator. `asked`: password given, code not yet. `given`: both. */
  readonly secondFactor: 'none' | 'asked' | 'given'
  /** A code was given for dangerous deeds, which are allowed until then. */
  readonly steppedUpUntil: Ms | null
}
