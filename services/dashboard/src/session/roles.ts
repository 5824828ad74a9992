/** Roles of a workspace, most first: each may do all that the ones behind it may. */
const ROLES = ['owner', 'admin', 'support', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Whether `held` may do what asks for `needed`. Leaves out what the server would refuse; it guards nothing. */
export function mayDo(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed)
}

/** The role as a word. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  support: 'Support',
  viewer: 'Viewer',
}
