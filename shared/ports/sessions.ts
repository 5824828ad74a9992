import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditWrite } from './audit.ts'
import type { Role } from './users.ts'

/** A valid session, as procedures see it. */
export interface OperatorSession {
  /** Hash of the token in the cookie. */
  readonly id: string
  /** The login it began with; unchanged when the token is replaced. */
  readonly loginId: string
  readonly userId: string
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

/** A stored session. */
export interface Session {
  /** SHA-256 of the token, lower-case hex. Only the browser has the token itself. */
  readonly id: string
  readonly loginId: string
  readonly userId: string
  /** SHA-256 of the stored password that it began with, hex: after a change of the password it is void. Absent in rows of releases before. */
  readonly passwordDigest?: string
  readonly secondFactor: OperatorSession['secondFactor']
  readonly steppedUpUntil: Ms | null
  readonly loggedInAt: Ms
  readonly seenAt: Ms
  /** Its end, whatever happens. */
  readonly endsAt: Ms
  readonly ip: string
  readonly userAgent: string
}

export interface SessionRepository {
  /** Stores a login with its audit row and mails, and stores the browser's device token with the user. */
  begin(session: Session, device: string | null, auditWrite: AuditWrite): Promise<void>
  find(id: string): Promise<Session | null>
  touch(id: string, at: Ms): Promise<void>
  /**
   * Replaces `id` by `next` in one step. The former token is valid until `formerEndsAt`, for requests in
   * flight, with its former rights only; stored with its audit row if one is given. False when it is gone or was
   * replaced already.
   */
  replace(id: string, next: Session, formerEndsAt: Ms, auditWrite: AuditWrite | null): Promise<boolean>
  /** Newest first. */
  listByUser(userId: string): Promise<readonly Session[]>
  /** Ends a login with all its tokens, with the audit row if one is given; returns how many tokens there were. */
  end(userId: string, loginId: string, auditWrite: AuditWrite | null): Promise<number>
  /** Ends every login of a person but one, with the audit row; returns how many tokens there were. */
  endOthers(userId: string, keepLoginId: string, auditWrite: AuditWrite): Promise<number>
}
