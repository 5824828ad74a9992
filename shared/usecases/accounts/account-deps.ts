import type { AuditRepository } from '#shared/ports/audit.ts'
import type { LoginAttempts } from '#shared/ports/login-attempts.ts'
import type { MembershipRepository } from '#shared/ports/members.ts'
import type { Ambient, Kicker } from '#shared/ports/runtime.ts'
import type { KeyHasher, OneTimeCodes, PasswordHasher, SecretBox } from '#shared/ports/secrets.ts'
import type { SessionRepository } from '#shared/ports/sessions.ts'
import type { After } from '#shared/ports/timers.ts'
import type { TryLanes } from '#shared/ports/try-lanes.ts'
import type { UserRepository } from '#shared/ports/users.ts'

/** What everything about people who log in needs. */
export interface PeopleDeps extends Ambient {
  readonly users: UserRepository
  readonly sessions: SessionRepository
  readonly memberships: Pick<MembershipRepository, 'rolesOf'>
  readonly attempts: LoginAttempts
  readonly lanes: TryLanes
  readonly after: After
  readonly audits: Pick<AuditRepository, 'insertMany'>
  readonly passwords: PasswordHasher
  readonly codes: OneTimeCodes
  readonly secretBox: SecretBox
  readonly hasher: KeyHasher
  readonly kicker: Kicker
}

/** What a request says about where it comes from. */
export interface Origin {
  readonly ip: string
  /** Who shares a limit with this address: itself, or the network of one IPv6 customer. */
  readonly group: string
  readonly userAgent: string
  /** The mark that this browser was given at an earlier log-in; null when it has none. */
  readonly device: string | null
}
