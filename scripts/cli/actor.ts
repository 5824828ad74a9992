import { userInfo } from 'node:os'

/** Who the audit trail names for a command: `cli:<operating-system user>`. */
export function actorName(): string {
  try {
    return `cli:${userInfo().username}`
  } catch {
    // A container may run as a number that has no name.
    return `cli:${process.getuid?.() ?? 'unknown'}`
  }
}
