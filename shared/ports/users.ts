import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord } from './audit.ts'
import type { MailRecord } from './events.ts'

/** What a person may do in a workspace, most first: each may do all that the ones behind it may. */
export const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

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

/** Somebody who can log in to the dashboard. */
export interface User {
  readonly id: string
  /** Lower case; unique in the installation. */
  readonly email: string
  readonly name: string
  /** argon2id in PHC form. */
  readonly passwordHash: string
  readonly isOperator: boolean
  /** Null without an authenticator. A code counts once: of each time step only the first, and none before the last one used. */
  readonly totp: { readonly sealedSecret: string; readonly lastStep: number; readonly since: Ms } | null
  /** A secret that was shown and not proved yet. */
  readonly pendingTotp: { readonly sealedSecret: string; readonly at: Ms } | null
  /** Keyed digests of recovery codes that were not used. */
  readonly recoveryHashes: readonly string[]
  /** Keyed digests of the marks of browsers that logged in, newest last. */
  readonly devices: readonly string[]
  readonly createdAt: Ms
}

/** What is written together with a deed, or not at all. */
export interface Noted {
  readonly audit: AuditRecord
  readonly mails?: readonly MailRecord[]
}

/** An audit row, alone or with the mails that are stored with it. */
export type Recorded = AuditRecord | Noted

/** People. Every change writes its audit row and its mails in the same transaction and answers false when it found nothing to change. */
export interface UserRepository {
  findById(id: string): Promise<User | null>
  findByEmail(email: string): Promise<User | null>
  findMany(ids: readonly string[]): Promise<readonly User[]>
  list(): Promise<readonly User[]>
  /** False when the address is taken. */
  insert(user: User, noted: Noted): Promise<boolean>
  setOperator(id: string, isOperator: boolean, noted: Noted): Promise<boolean>
  /** False when this step, or a later one, was used already. */
  useTotpStep(id: string, step: number): Promise<boolean>
  setPendingTotp(id: string, pending: NonNullable<User['pendingTotp']>, noted: Noted): Promise<boolean>
  /** Makes the pending secret the one that counts, while it is still `sealedSecret`; every other session ends. */
  confirmTotp(
    id: string,
    confirmed: {
      readonly sealedSecret: string
      readonly lastStep: number
      readonly at: Ms
      readonly recoveryHashes: readonly string[]
      readonly keepLoginId: string
    },
    noted: Noted,
  ): Promise<boolean>
  /** Every session but `keepLoginId` ends. */
  removeTotp(id: string, keepLoginId: string | null, noted: Noted): Promise<boolean>
  /** Takes one recovery code away; false when it was used or never there. */
  useRecoveryHash(id: string, hash: string, noted: Noted): Promise<boolean>
  setRecoveryHashes(id: string, hashes: readonly string[], noted: Noted): Promise<boolean>
  /** Replaces the password while the old one is still `from` (null = whatever it is) and ends every session. */
  setPassword(id: string, from: string | null, passwordHash: string, noted: Noted): Promise<boolean>
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

/** How fast a counter of failures slows down. */
export interface BackOff {
  /** So many failures have no wait. */
  readonly free: number
  /** The first wait; each further failure doubles it. */
  readonly firstWaitMs: Ms
  readonly waitMaxMs: Ms
  /** Failures are forgotten this long after the last one. */
  readonly forgottenAfterMs: Ms
}

/** Counters of failed tries: of passwords by account, browser and source, of codes by person or log-in. */
export interface LoginAttempts {
  /** Counts a try before its outcome is known, so that tries at the same time cannot slip through; the time to wait when it is refused. */
  begin(key: string, backOff: BackOff, at: Ms): Promise<{ readonly waitMs: Ms }>
  /** Counts a try that was wrong; how late it is to be answered. Refuses nothing. */
  fail(key: string, backOff: BackOff, at: Ms): Promise<{ readonly delayMs: Ms }>
  /** Forgets all failures. */
  clear(key: string): Promise<void>
}

/** Slow, salted hashes of passwords. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  /** False for a wrong password; with a null hash it works as long and answers false. */
  verify(hash: string | null, password: string): Promise<boolean>
}

/** Codes of an authenticator (RFC 6238: SHA-1, six digits, 30 s). */
export interface OneTimeCodes {
  /** A fresh secret of 160 bits in base 32. */
  newSecret(): string
  /** What an authenticator scans. */
  uri(secret: string, email: string): string
  /** The time step whose code this is, among the current one and its neighbours; null for any other text. */
  stepOf(secret: string, code: string, at: Ms): Promise<number | null>
}
