import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord, AuditWrite } from './audit.ts'

/** Roles in a workspace, highest first: each includes the rights of the following ones. */
export const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** A person who can log in to the dashboard. */
export interface User {
  readonly id: string
  /** Lower case; unique in the installation. */
  readonly email: string
  readonly name: string
  /** argon2id in PHC form. */
  readonly passwordHash: string
  readonly isOperator: boolean
  /** Null without an authenticator. Each time step is accepted once, and none before the last one used. */
  readonly totp: { readonly sealedSecret: string; readonly lastStep: number; readonly since: Ms } | null
  /** A secret that was displayed and not confirmed yet. */
  readonly pendingTotp: { readonly sealedSecret: string; readonly at: Ms } | null
  /** Keyed digests of unused recovery codes. */
  readonly recoveryHashes: readonly string[]
  /** Keyed digests of the device tokens of browsers that logged in, newest last. */
  readonly devices: readonly string[]
  readonly createdAt: Ms
}

/** An audit row, alone or with the mails that are stored with it. */
export type Recorded = AuditRecord | AuditWrite

/** Users. Every change writes its audit row and its mails in the same transaction and returns false when there was nothing to change. */
export interface UserRepository {
  findById(id: string): Promise<User | null>
  findByEmail(email: string): Promise<User | null>
  findMany(ids: readonly string[]): Promise<readonly User[]>
  list(): Promise<readonly User[]>
  /** False when the address is taken. */
  insert(user: User, auditWrite: AuditWrite): Promise<boolean>
  setOperator(id: string, isOperator: boolean, auditWrite: AuditWrite): Promise<boolean>
  /** False when this step, or a later one, was used already. */
  useTotpStep(id: string, step: number): Promise<boolean>
  setPendingTotp(id: string, pending: NonNullable<User['pendingTotp']>, auditWrite: AuditWrite): Promise<boolean>
  /** Activates the pending secret if it is still `sealedSecret`; every other session ends. */
  confirmTotp(
    id: string,
    confirmed: {
      readonly sealedSecret: string
      readonly lastStep: number
      readonly at: Ms
      readonly recoveryHashes: readonly string[]
      readonly keepLoginId: string
    },
    auditWrite: AuditWrite,
  ): Promise<boolean>
  /** Every session but `keepLoginId` ends. */
  removeTotp(id: string, keepLoginId: string | null, auditWrite: AuditWrite): Promise<boolean>
  /** Removes one recovery code; false when it was used or never existed. */
  useRecoveryHash(id: string, hash: string, auditWrite: AuditWrite): Promise<boolean>
  setRecoveryHashes(id: string, hashes: readonly string[], auditWrite: AuditWrite): Promise<boolean>
  /** Replaces the password if the old one is still `from` (null = any) and ends every session. */
  setPassword(id: string, from: string | null, passwordHash: string, auditWrite: AuditWrite): Promise<boolean>
}
