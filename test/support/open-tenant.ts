import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import type { DevInfo } from '#scripts/start/dev-info.ts'
import { readEnvironment } from '#scripts/start/environment.ts'
import { parseConfig } from '#shared/config/schema.ts'
import { createMembershipRepository } from '#shared/db/accounts/membership-repository.ts'
import { createUserRepository } from '#shared/db/accounts/user-repository.ts'
import { createStoreClock } from '#shared/db/connection/clock.ts'
import { connectDatabase } from '#shared/db/connection/connect.ts'
import { createWorkspaceOperations } from '#shared/db/workspaces/workspace-operations.ts'
import { createWorkspaceRepository } from '#shared/db/workspaces/workspace-repository.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import type { Role } from '#shared/ports/users.ts'
import { createLogger } from '#shared/runtime/observability/logger.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createRandom } from '#shared/runtime/secrets/random.ts'
import { createKeyHasher } from '#shared/runtime/secrets/secret-box.ts'
import { createOperator, newPassword } from '#shared/usecases/accounts/manage-operators.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { issueKey } from '#test/support/issue-key.ts'
import { sharedInstallation } from './shared-installation.ts'

/** A person who can log in. */
export interface Person {
  readonly email: string
  readonly password: string
}

/** A new workspace: a key of each mode with every scope, and an owner who can log in. */
export interface Tenant {
  readonly workspaceId: string
  readonly testKey: string
  readonly liveKey: string
  readonly owner: Person
}

/**
 * Opens a workspace on the installation of a data folder, as the command line does, without three processes for it.
 * `isOperator`: its owner sees the pages of the installation as well.
 */
export async function openTenant(
  dataDir: string,
  { name = 'Flow', isOperator = false }: { readonly name?: string; readonly isOperator?: boolean } = {},
): Promise<Tenant> {
  return await withTools(dataDir, async (tools) => {
    const email = `${randomUUID()}@example.com`
    const { id: workspaceId } = await createWorkspace(tools, { name, ownerEmail: email, actor: 'test' })
    const keyOf = async (mode: 'test' | 'live') =>
      (await issueKey(tools, { workspaceId, mode, scopes: SCOPES, actor: 'test' })).apiKey
    const password = newPassword(tools)
    const member = { workspaceId, role: 'owner' } as const
    await createOperator(tools, { email, name: 'Olivia Owner', password, isOperator, member, actor: 'test' })
    return { workspaceId, testKey: await keyOf('test'), liveKey: await keyOf('live'), owner: { email, password } }
  })
}

/** Makes a person who can log in and has this role in a workspace of the installation. */
export async function openPerson(
  dataDir: string,
  {
    workspaceId,
    role,
    name = 'Ana Núñez',
  }: { readonly workspaceId: string; readonly role: Role; readonly name?: string },
): Promise<Person> {
  return await withTools(dataDir, async (tools) => {
    const person = { email: `${randomUUID()}@example.com`, password: newPassword(tools) }
    await createOperator(tools, { ...person, name, isOperator: false, member: { workspaceId, role }, actor: 'test' })
    return person
  })
}

/**
 * The run's shared installation with a workspace that no other file uses in place of the seeded one; its owner may also
 * run the installation. For hooks of a file of tests.
 */
export async function ownWorkspace(): Promise<DevInfo> {
  const dataDir = inject('stackDataDir')
  const dev = sharedInstallation()
  const { owner, ...tenant } = await openTenant(dataDir, { name: 'Corner Shop', isOperator: true })
  return { ...dev, ...tenant, ownerEmail: owner.email, ownerPassword: owner.password }
}

async function withTools<T>(dataDir: string, work: (tools: Tools) => Promise<T>): Promise<T> {
  const { stores, secrets } = parseConfig(readEnvironment(dataDir) ?? {})
  const logger = createLogger({ name: 'tenant', level: 'silent' })
  const db = await connectDatabase({ url: stores.mongoUrl, name: stores.mongoDatabase, logger })
  try {
    const clock = await createStoreClock(db)
    clock.stop()
    return await work({
      ...{ clock, random: createRandom(clock.now) },
      workspaces: createWorkspaceRepository(db),
      workspaceAdmin: createWorkspaceOperations(db),
      users: createUserRepository(db),
      memberships: createMembershipRepository(db),
      passwords: createPasswordHasher(),
      hasher: createKeyHasher(secrets.keyPepper),
    })
  } finally {
    await db.close()
  }
}

type Tools = Parameters<typeof createWorkspace>[0] &
  Parameters<typeof issueKey>[0] &
  Parameters<typeof createOperator>[0]
