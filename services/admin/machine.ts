import type { OperatorSession } from '#shared/ports/sessions.ts'

/** The guards that an actor is exempt from. */
interface Exemptions {
  /** Second factor and fresh code. */
  readonly code: boolean
  /** Membership and role: it acts in every workspace and on the installation. */
  readonly membership: boolean
  /** Status of the workspace: it also acts in restricted and suspended ones. */
  readonly status: boolean
}

/** A person with access to the machine who acts without a log-in. */
export interface Machine {
  /** Name in the audit log and on decisions, `cli:<user>`. */
  readonly actor: `cli:${string}`
  readonly exempt: Exemptions
}

/**
 * The actor of the command line. Access to the machine reads and changes the whole store (`docs/security/THREATS.md`), so that no guard of
 * the dashboard would stop this person; the audit log names them. No HTTP request gets this actor.
 */
export const machineOf = (actor: Machine['actor']): Machine => ({
  actor,
  exempt: { code: true, membership: true, status: true },
})

/** A session for procedures that read one. It is never stored and has no rights: those come from the exemptions of the actor. */
export const machineSession = (actor: Machine['actor']): OperatorSession => ({
  ...{ id: actor, loginId: actor, userId: actor, securityEpoch: 0, email: actor, name: actor },
  ...{ isOperator: false, roles: new Map(), secondFactor: 'none', steppedUpUntil: null },
})
