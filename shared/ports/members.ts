export type { Membership } from '#shared/db/accounts/operator-models.ts'

/** Why a membership was not changed: `last_owner` protects the workspace, `changed` means a concurrent change. */
export type MembershipChange = 'done' | 'last_owner' | 'changed'
