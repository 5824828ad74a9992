import type { ServiceContext } from '#services/context.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createApiKeyRepository } from '#shared/db/api-key-repository.ts'
import { createAuditChainRepository } from '#shared/db/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit-repository.ts'
import { createAuditSearch } from '#shared/db/audit-search.ts'
import { createExportRecords } from '#shared/db/export-records.ts'
import { createInvitationRepository } from '#shared/db/invitation-repository.ts'
import { createLoginAttempts } from '#shared/db/login-attempts.ts'
import { createMembershipRepository } from '#shared/db/membership-repository.ts'
import { createOperationRegister } from '#shared/db/operation-repository.ts'
import { createSessionRepository } from '#shared/db/session-repository.ts'
import { createTenancyDeeds } from '#shared/db/tenancy-deeds.ts'
import { createUserRepository } from '#shared/db/user-repository.ts'
import { createEpochStore } from '#shared/queues/epoch-store.ts'
import { after } from '#shared/runtime/after.ts'
import { createAuditKeys } from '#shared/runtime/audit-keys.ts'
import { createKeyHasher } from '#shared/runtime/key-hasher.ts'
import { createOneTimeCodes } from '#shared/runtime/one-time-codes.ts'
import { createPasswordHasher } from '#shared/runtime/password-hasher.ts'
import { createSecretBox } from '#shared/runtime/secret-box.ts'
import { createTryLanes } from '#shared/runtime/try-lanes.ts'
import type { PeopleDeps } from '#shared/usecases/people-deps.ts'
import type { AuditChainRepository, AuditRepository, AuditSearch } from '#shared/usecases/ports/audit.ts'
import type { Catalog } from '#shared/usecases/ports/catalog.ts'
import type { ExportRecords } from '#shared/usecases/ports/exports.ts'
import type { InvitationRepository, MembershipRepository } from '#shared/usecases/ports/members.ts'
import type { OperationRegister } from '#shared/usecases/ports/operations.ts'
import type { Kicker } from '#shared/usecases/ports/runtime.ts'
import type { AuditKeys } from '#shared/usecases/ports/secrets.ts'
import type { ApiKeyRepository, EpochStore, TenancyDeeds } from '#shared/usecases/ports/tenancy.ts'

/** What people, sessions, members, keys, settings and the audit trail work with, beside what all routers have. */
export interface AccountDeps extends Omit<PeopleDeps, 'clock' | 'random' | 'logger' | 'metrics' | 'kicker' | 'pulses'> {
  readonly memberships: MembershipRepository
  readonly invitations: InvitationRepository
  readonly audits: AuditRepository
  readonly operations: OperationRegister
  readonly auditSearch: AuditSearch
  readonly exports: ExportRecords
  readonly auditChain: AuditChainRepository
  readonly auditKeys: AuditKeys
  readonly apiKeys: ApiKeyRepository
  readonly tenancy: TenancyDeeds
  readonly epochs: EpochStore
  readonly catalog: Catalog
}

/** Wires the real parts on open connections. */
export function buildAccountDeps({ config, db, redis }: ServiceContext, _kicker: Kicker): AccountDeps {
  return {
    users: createUserRepository(db),
    sessions: createSessionRepository(db),
    memberships: createMembershipRepository(db),
    invitations: createInvitationRepository(db),
    attempts: createLoginAttempts(db),
    lanes: createTryLanes(),
    after,
    audits: createAuditRepository(db),
    operations: createOperationRegister(db),
    auditSearch: createAuditSearch(db),
    exports: createExportRecords(db),
    auditChain: createAuditChainRepository(db),
    auditKeys: createAuditKeys(config.secrets.masterKey),
    apiKeys: createApiKeyRepository(db),
    tenancy: createTenancyDeeds(db),
    epochs: createEpochStore(redis),
    catalog: createCatalog(config.networks),
    passwords: createPasswordHasher(),
    codes: createOneTimeCodes(),
    secretBox: createSecretBox(config.secrets.masterKey),
    hasher: createKeyHasher(config.secrets.keyPepper),
  }
}
