import { ROLES, type Role } from '#shared/ports/users.ts'

/** Whether a person with the role `held` may do something that requires `needed`. Each role includes the rights of the following ones. */
export function allows(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed)
}
