import type { Ms } from '#shared/domain/invoice/model.ts'
import type { Noted } from './audit.ts'
import type { Role } from './users.ts'

/** A log-in that lives, as procedures see it. */
export interface OperatorSession {
  /** Hash of the token in the cookie. */
  readonly id: string
  /** The log-in it began with; stays when the token is replaced. */
  readonly loginId: string
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

/** A stored session. */
export interface Session {
  /** SHA-256 of the token, lower-case hex. The token itself is nowhere but in the browser. */
  readonly id: string
  readonly loginId: string
  readonly userId: string
  readonly secondFactor: OperatorSession['secondFactor']
  readonly steppedUpUntil: Ms | null
  readonly loggedInAt: Ms
  readonly seenAt: Ms
  /** Its end whatever happens. */
  readonly endsAt: Ms
  readonly ip: string
  readonly userAgent: string
}

export interface SessionRepository {
  /** Stores a log-in with its audit row and mails, and remembers the browser's mark with the person. */
  begin(session: Session, device: string | null, noted: Noted): Promise<void>
  find(id: string): Promise<Session | null>
  touch(id: string, at: Ms): Promise<void>
  /**
   * Puts `next` in the place of `id` in one step. The former token lives until `formerEndsAt`, for requests that are on their
   * way, and can do nothing more than before; stored with its audit row where one is given. False when it is gone or was
   * replaced already.
   */
  replace(id: string, next: Session, formerEndsAt: Ms, noted: Noted | null): Promise<boolean>
  /** Newest first. */
  listByUser(userId: string): Promise<readonly Session[]>
  /** Ends a log-in with all its tokens, with the audit row where one is given; how many tokens there were. */
  end(userId: string, loginId: string, noted: Noted | null): Promise<number>
  /** Ends every log-in of a person but one, with the audit row; how many tokens there were. */
  endOthers(userId: string, keepLoginId: string, noted: Noted): Promise<number>
}
