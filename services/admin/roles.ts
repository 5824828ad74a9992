import { ROLES, type Role } from '#shared/ports/users.ts'

/** Whether a person who holds `held` may do what asks for `needed`. Each role may do all that the ones behind it may. */
export function allows(held: Role, needed: Role): boolean {
  return ROLES.indexOf(held) <= ROLES.indexOf(needed)
}
