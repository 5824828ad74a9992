import { createInvitationRepository } from '#shared/db/accounts/invitation-repository.ts'
import { createLoginAttempts } from '#shared/db/accounts/login-attempts.ts'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { createPasswordResets } from '#shared/db/accounts/password-resets.ts'
import { createSessionRepository } from '#shared/db/accounts/session-repository.ts'
import { createUserRepository } from '#shared/db/accounts/user-repository.ts'
import { createGoLiveRepository } from '#shared/db/golive/go-live-repository.ts'
import { createIdempotencyRepository } from '#shared/db/requests/idempotency-repository.ts'
import { createOperationRegister } from '#shared/db/requests/operation-repository.ts'
import { createOwnershipRepository } from '#shared/db/wallets/ownership-repository.ts'
import { createWalletOperations } from '#shared/db/wallets/wallet-operations.ts'
import { createWalletRepository } from '#shared/db/wallets/wallet-repository.ts'
import { createWatchPackRepository } from '#shared/db/wallets/watch-pack-repository.ts'
import { createApiKeyRepository } from '#shared/db/workspaces/api-key-repository.ts'
import { createLogos } from '#shared/db/workspaces/logos.ts'
import { createWorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import type { ProofWrite } from '#shared/ports/ownership.ts'
import { BY_KEY, bounded, type DeclaredQueries, questionsOf } from '../declare.ts'
import { BUSY, type Facts, MATERIAL, MODE, NETWORK } from '../facts.ts'

const proof = (facts: Facts): Omit<ProofWrite, 'displaced'> => ({
  ...{ isKey: true, materialId: MATERIAL, mode: MODE, family: 'evm', workspaceId: 'ws-prover' },
  ...{ nonce: 'n', rows: [], provedAt: facts.now, subjectHash: 'h' },
})

const WALLETS: DeclaredQueries<ReturnType<typeof createWalletRepository>> = {
  upsertMaterial: BY_KEY,
  findMaterial: BY_KEY,
  listMaterials: (on) => on.listMaterials(),
  isAnyBehind: (on) => on.isAnyBehind(512),
  isAnyUnderived: (on) => on.isAnyUnderived(),
  isAnyAwaited: (on) => on.isAnyAwaited(),
  insertWallet: BY_KEY,
  listWallets: { 'of a workspace': (on) => on.listWallets(BUSY), all: (on) => on.listWallets(null) },
  findWallet: BY_KEY,
  setDisabled: BY_KEY,
  findProofs: BY_KEY,
  workspacesUsing: (on) => on.workspacesUsing(MATERIAL),
  reserveIndexes: BY_KEY,
  addressesAt: (on) => on.addressesAt(MATERIAL, [1, 2, 3]),
  findAddresses: (on, facts) => on.findAddresses(MODE, 'evm', [facts.matchKey(facts.old)]),
  addDerived: BY_KEY,
  addListed: BY_KEY,
  heldPage: (on) => on.heldPage(MATERIAL, null, 100),
  countHeld: (on) => on.countHeld(MATERIAL),
  returnIndexes: BY_KEY,
  recordUsedIndex: BY_KEY,
  endHistorySearch: BY_KEY,
  setStartIndex: BY_KEY,
  watchPage: (on, facts) => on.watchPage(MODE, 'evm', facts.matchKey(facts.old), 1_000),
  hotWatchPage: (on, facts) => on.hotWatchPage(MODE, 'evm', facts.matchKey(facts.old), 1_000),
  hotWatchKeys: bounded(1_001, 'the keys of a page come in one document', (on, facts) =>
    on.hotWatchKeys(MODE, 'evm', facts.matchKey(facts.old), 1_000),
  ),
  markPacked: BY_KEY,
  unmarkedWatches: (on) => on.unmarkedWatches(MODE, 'evm', NETWORK, 100),
  markWatched: BY_KEY,
}

const WATCH_PACKS: DeclaredQueries<ReturnType<typeof createWatchPackRepository>> = {
  heads: (on) => on.heads(MODE, 'evm', 0),
  read: BY_KEY,
  last: (on) => on.last(MODE, 'evm'),
  expected: BY_KEY,
  put: BY_KEY,
}

const WALLET_OPERATIONS: DeclaredQueries<ReturnType<typeof createWalletOperations>> = {
  insert: BY_KEY,
  change: BY_KEY,
  note: BY_KEY,
  isRecorded: BY_KEY,
}

const OWNERSHIP: DeclaredQueries<ReturnType<typeof createOwnershipRepository>> = {
  installationId: BY_KEY,
  openChallenge: BY_KEY,
  findChallenge: BY_KEY,
  findDisplaced: (on, facts) => on.findDisplaced(proof(facts)),
  countProved: (on) => on.countProved(BUSY, MATERIAL),
}

const WORKSPACES: DeclaredQueries<ReturnType<typeof createWorkspaceRepository>> = {
  insert: BY_KEY,
  findById: BY_KEY,
  findMany: BY_KEY,
  list: (on) => on.list(),
  countLive: (on) => on.countLive(),
  update: BY_KEY,
}

const KEYS: DeclaredQueries<ReturnType<typeof createApiKeyRepository>> = {
  findByHash: BY_KEY,
  findManyByHash: BY_KEY,
  list: (on) => on.list(BUSY),
  noteUse: BY_KEY,
}

const WORKSPACE_OPERATIONS: DeclaredQueries<ReturnType<typeof createWorkspaceOperations>> = {
  issueKey: BY_KEY,
  findKey: BY_KEY,
  revokeKey: BY_KEY,
  changeWorkspace: BY_KEY,
}

const LOGOS: DeclaredQueries<ReturnType<typeof createLogos>> = {
  findByWorkspace: BY_KEY,
  findByHash: (on) => on.findByHash('0'.repeat(64)),
}

const IDEMPOTENCY: DeclaredQueries<ReturnType<typeof createIdempotencyRepository>> = {
  begin: BY_KEY,
  renew: BY_KEY,
  finish: BY_KEY,
  release: BY_KEY,
  giveUp: BY_KEY,
  find: BY_KEY,
  findMany: BY_KEY,
}

const OPERATIONS: DeclaredQueries<ReturnType<typeof createOperationRegister>> = {
  begin: BY_KEY,
  finish: BY_KEY,
  release: BY_KEY,
}

const MEMBERSHIPS: DeclaredQueries<ReturnType<typeof createMembershipRepository>> = {
  rolesOf: (on) => on.rolesOf('user-1'),
  list: (on) => on.list(BUSY),
  find: BY_KEY,
  add: BY_KEY,
  change: BY_KEY,
}

const RESETS: DeclaredQueries<ReturnType<typeof createPasswordResets>> = {
  insert: BY_KEY,
  findByTokenHash: BY_KEY,
  complete: BY_KEY,
}

const INVITATIONS: DeclaredQueries<ReturnType<typeof createInvitationRepository>> = {
  insert: BY_KEY,
  findById: BY_KEY,
  findByTokenHash: BY_KEY,
  listOpen: (on, { now }) => on.listOpen(BUSY, now),
  withdraw: BY_KEY,
  accept: BY_KEY,
}

const SESSIONS: DeclaredQueries<ReturnType<typeof createSessionRepository>> = {
  begin: BY_KEY,
  find: BY_KEY,
  touch: BY_KEY,
  replace: BY_KEY,
  listByUser: (on) => on.listByUser('user-1'),
  end: (on) => on.end('user-1', 'login-1', null),
  endOthers: BY_KEY,
}

const USERS: DeclaredQueries<ReturnType<typeof createUserRepository>> = {
  findById: BY_KEY,
  findByEmail: BY_KEY,
  findMany: BY_KEY,
  list: (on) => on.list(),
  insert: BY_KEY,
  useTotpStep: BY_KEY,
  setPendingTotp: BY_KEY,
  confirmTotp: BY_KEY,
  removeTotp: BY_KEY,
  useRecoveryHash: BY_KEY,
  setRecoveryHashes: BY_KEY,
  setPassword: BY_KEY,
}

const ATTEMPTS: DeclaredQueries<ReturnType<typeof createLoginAttempts>> = { begin: BY_KEY, fail: BY_KEY, clear: BY_KEY }

const GO_LIVE: DeclaredQueries<ReturnType<typeof createGoLiveRepository>> = {
  list: (on) => on.list({ workspaceId: BUSY, mode: MODE }),
  record: BY_KEY,
  lastBackupAt: (on) => on.lastBackupAt(),
}

/** What is asked about wallets, workspaces and people. */
export const WORKSPACE_QUESTIONS = [
  ...questionsOf('wallets', 'workers', createWalletRepository, WALLETS),
  ...questionsOf('watch packs', 'idle', createWatchPackRepository, WATCH_PACKS),
  ...questionsOf('wallet operations', 'dashboard', createWalletOperations, WALLET_OPERATIONS),
  ...questionsOf('ownership', 'dashboard', createOwnershipRepository, OWNERSHIP),
  ...questionsOf('workspaces', 'rest', createWorkspaceRepository, WORKSPACES),
  ...questionsOf('api keys', 'rest', createApiKeyRepository, KEYS),
  ...questionsOf('workspace operations', 'dashboard', createWorkspaceOperations, WORKSPACE_OPERATIONS),
  ...questionsOf('logos', 'rest', createLogos, LOGOS),
  ...questionsOf('idempotency keys', 'rest', createIdempotencyRepository, IDEMPOTENCY),
  ...questionsOf('operations', 'dashboard', createOperationRegister, OPERATIONS),
  ...questionsOf('memberships', 'dashboard', createMembershipRepository, MEMBERSHIPS),
  ...questionsOf('invitations', 'dashboard', createInvitationRepository, INVITATIONS),
  ...questionsOf('password resets', 'dashboard', createPasswordResets, RESETS),
  ...questionsOf('sessions', 'dashboard', createSessionRepository, SESSIONS),
  ...questionsOf('users', 'dashboard', createUserRepository, USERS),
  ...questionsOf('go-live', 'dashboard', createGoLiveRepository, GO_LIVE),
  ...questionsOf('log-in attempts', 'dashboard', createLoginAttempts, ATTEMPTS),
]
