import type { User } from '#shared/db/accounts/operator-models.ts'
import type { AuditRecord, AuditWrite } from './audit.ts'

export type { User } from '#shared/db/accounts/operator-models.ts'

/** Roles in a workspace, highest first: each includes the rights of the following ones. */
export const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** An audit row, alone or with the mails that are stored with it. */
export type AuditInput = AuditRecord | AuditWrite

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
