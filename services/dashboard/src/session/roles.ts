/** Roles of a workspace, highest first: each includes the rights of the following ones. */
const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Whether `held` may do something that requires `needed`. Hides what the server would refuse; it is not a security check. */
export function mayDo(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed)
}

/** The role as a word. */
export const ROLE_LABELS: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  support: 'Support',
  viewer: 'Viewer',
}
