import type { Role } from './users.ts'

export type { Invitation } from '#shared/db/accounts/operator-models.ts'

/** The role required to invite others, at the invitation and at its acceptance. */
export const INVITER_ROLE: Role = 'owner'

/**
 * Result of an acceptance. `closed`: the invitation is not open. `void`: its inviter may not invite any more. `logged_out`: the session of
 * the invited person ended.
 */
export type Acceptance = 'accepted' | 'closed' | 'void' | 'logged_out'
