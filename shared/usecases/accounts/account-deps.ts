import type { AuditRepository } from '#shared/ports/audit.ts'
import type { LoginAttempts } from '#shared/ports/login-attempts.ts'
import type { MembershipRepository } from '#shared/ports/members.ts'
import type { QueueNotifier, Runtime } from '#shared/ports/runtime.ts'
import type { KeyHasher, OneTimeCodes, PasswordHasher, SecretBox } from '#shared/ports/secrets.ts'
import type { SessionRepository } from '#shared/ports/sessions.ts'
import type { After } from '#shared/ports/timers.ts'
import type { TryLanes } from '#shared/ports/try-lanes.ts'
import type { UserRepository } from '#shared/ports/users.ts'

/** Dependencies shared by all account use cases. */
export interface PeopleDeps extends Runtime {
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
  readonly notifier: QueueNotifier
}

/** Where a request comes from. */
export interface Origin {
  readonly ip: string
  /** Clients with the same group share one limit: the address itself, or the prefix of an IPv6 customer. */
  readonly group: string
  readonly userAgent: string
  /** The device token that this browser got at an earlier login; null without one. */
  readonly device: string | null
}
