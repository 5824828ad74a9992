import type { ServiceContext } from '#services/context.ts'
import { createCatalog } from '#shared/chains/catalog.ts'
import { createInvitationRepository } from '#shared/db/accounts/invitation-repository.ts'
import { createLoginAttempts } from '#shared/db/accounts/login-attempts.ts'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { createSessionRepository } from '#shared/db/accounts/session-repository.ts'
import { createUserRepository } from '#shared/db/accounts/user-repository.ts'
import { createAuditChainRepository } from '#shared/db/audit/audit-chain-repository.ts'
import { createAuditRepository } from '#shared/db/audit/audit-repository.ts'
import { createAuditSearch } from '#shared/db/audit/audit-search.ts'
import { createExportRecords } from '#shared/db/audit/export-records.ts'
import { createOperationRegister } from '#shared/db/requests/operation-repository.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createTenancyDeeds } from '#shared/db/workspaces/workspace-operations.ts'
import type { ApiKeyRepository } from '#shared/ports/api-keys.ts'
import type { AuditChainRepository, AuditRepository, AuditSearch } from '#shared/ports/audit.ts'
import type { Catalog } from '#shared/ports/chain-catalog.ts'
import type { EpochStore } from '#shared/ports/epoch-store.ts'
import type { ExportRecords } from '#shared/ports/exports.ts'
import type { InvitationRepository, MembershipRepository } from '#shared/ports/members.ts'
import type { OperationRegister } from '#shared/ports/operations.ts'
import type { Kicker } from '#shared/ports/runtime.ts'
import type { AuditKeys } from '#shared/ports/secrets.ts'
import type { TenancyDeeds } from '#shared/ports/workspaces.ts'
import { createEpochStore } from '#shared/queues/epoch-store.ts'
import { after } from '#shared/runtime/process/after.ts'
import { createAuditKeys } from '#shared/runtime/secrets/audit-keys.ts'
import { createKeyHasher } from '#shared/runtime/secrets/key-hasher.ts'
import { createOneTimeCodes } from '#shared/runtime/secrets/one-time-codes.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createSecretBox } from '#shared/runtime/secrets/secret-box.ts'
import { createTryLanes } from '#shared/runtime/secrets/try-lanes.ts'
import type { PeopleDeps } from '#shared/usecases/accounts/account-deps.ts'

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
    lanes: createTryLanes(after),
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
