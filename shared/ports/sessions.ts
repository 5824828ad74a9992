import type { Session } from '#shared/db/accounts/operator-models.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'
import type { ActingSession, Role, User } from './users.ts'

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
  /** `none`: this person has no authenticator. `asked`: password entered, code not yet. `given`: both. */
  readonly secondFactor: 'none' | 'asked' | 'given'
  /** A code was entered for dangerous actions, which are allowed until then. */
  readonly steppedUpUntil: Ms | null
}

/** Sessions. Every read compares the session's epoch with that of its person: a void session is not found. */
export interface SessionRepository {
  /**
   * Stores a login with its audit row and mails, and stores the browser's device token with the user. `asked`: the session that awaited the
   * code, which ends with it. False, and nothing stored, when the person's epoch is not the session's any more, or `asked` ended.
   */
  begin(
    session: Session,
    from: { readonly device: string | null; readonly asked: ActingSession | null },
    auditWrite: AuditWrite,
  ): Promise<boolean>
  /** The session with its person. */
  find(id: string): Promise<{ readonly session: Session; readonly user: User } | null>
  touch(id: string, at: Ms): Promise<void>
  /**
   * Replaces `id` by `next` in one step. The former token is valid until `formerEndsAt`, for requests in
   * flight, with its former rights only; stored with its audit row if one is given. False when it is gone, was
   * replaced already, or is not of the epoch of `next` any more.
   */
  replace(id: string, next: Session, formerEndsAt: Ms, auditWrite: AuditWrite | null): Promise<boolean>
  /** Newest first. */
  listByUser(userId: string): Promise<readonly Session[]>
  /** Ends a login with all its tokens, with the audit row if one is given; returns how many tokens there were. */
  end(userId: string, loginId: string, auditWrite: AuditWrite | null): Promise<number>
  /**
   * Raises the person's epoch and ends every login but the one that does it, with the audit row; returns how many there were. Null
   * when that session has ended itself.
   */
  endOthers(by: ActingSession, auditWrite: AuditWrite): Promise<number | null>
}
