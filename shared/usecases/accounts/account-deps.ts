import type { LoginAttempts } from '#shared/db/accounts/login-attempts.ts'
import type { HashingLimiter } from '#shared/ports/hashing-limiter.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies shared by all account use cases. */
export type PeopleDeps = Runtime &
  Uses<
    | 'users'
    | 'sessions'
    | 'memberships'
    | 'after'
    | 'audits'
    | 'passwords'
    | 'codes'
    | 'secretBox'
    | 'hasher'
    | 'notifier'
  > & {
    readonly attempts: LoginAttempts
    readonly lanes: HashingLimiter
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
