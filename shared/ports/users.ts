import type { Ms } from '#shared/domain/invoice/model.ts'
import type { AuditRecord, Noted } from './audit.ts'

/** What a person may do in a workspace, most first: each may do all that the ones behind it may. */
export const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

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
