import type { User } from '#shared/db/accounts/operator-models.ts'
import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord, AuditWrite } from './audit.ts'

export type { User } from '#shared/db/accounts/operator-models.ts'

/** Roles in a workspace, highest first: each includes the rights of the following ones. */
export const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** An audit row, alone or with the mails that are stored with it. */
export type Recorded = AuditRecord | AuditWrite

/** A person as of one epoch: a decision that was made on what was read then. */
export type PersonAt = Pick<User, 'id' | 'securityEpoch'>

/** The session in which a person acts: the act is refused unless this very token is still valid, at this epoch. */
export interface ActingSession {
  readonly id: string
  readonly userId: string
  readonly securityEpoch: number
}

/**
 * Who replaces a password or a factor. The person, in a session: it must still live at its epoch, and `keepDevice` (null: none) is the
 * only recognised browser that stays one. Or an operator of the machine, whatever the epoch, after which no browser is recognised.
 */
export type Authority =
  | { readonly session: ActingSession; readonly keepDevice: string | null }
  | { readonly operatorOn: string }

/**
 * Users. Every change writes its audit row and its mails in the same transaction and returns false, or null, when there was nothing to
 * change, and when the person's epoch was raised, or the session ended, since the change was decided.
 */
export interface UserRepository {
  findById(id: string): Promise<User | null>
  findByEmail(email: string): Promise<User | null>
  findMany(ids: readonly string[]): Promise<readonly User[]>
  list(): Promise<readonly User[]>
  /** False when the address is taken. */
  insert(user: User, auditWrite: AuditWrite): Promise<boolean>
  setOperator(id: string, isOperator: boolean, auditWrite: AuditWrite): Promise<boolean>
  /** False when this step, or a later one, was used already. */
  useTotpStep(person: PersonAt, step: number): Promise<boolean>
  setPendingTotp(by: ActingSession, pending: NonNullable<User['pendingTotp']>, auditWrite: AuditWrite): Promise<boolean>
  /** Activates the pending secret if it is still `sealedSecret`; every other session ends. Returns the raised epoch. */
  confirmTotp(
    by: Extract<Authority, { session: unknown }>,
    confirmed: {
      readonly sealedSecret: string
      readonly lastStep: number
      readonly at: Ms
      readonly recoveryHashes: readonly string[]
    },
    auditWrite: AuditWrite,
  ): Promise<number | null>
  /** Every session but the one that does it ends. Returns the raised epoch. */
  removeTotp(by: Authority, auditWrite: AuditWrite): Promise<number | null>
  /** Removes one recovery code; false when it was used or never existed. */
  useRecoveryHash(person: PersonAt, hash: string, auditWrite: AuditWrite): Promise<boolean>
  setRecoveryHashes(by: ActingSession, hashes: readonly string[], auditWrite: AuditWrite): Promise<boolean>
  /** Replaces the password and ends every session, also the one that does it. Returns the raised epoch. */
  setPassword(by: Authority, passwordHash: string, auditWrite: AuditWrite): Promise<number | null>
}
