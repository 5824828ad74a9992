import { join } from 'node:path'
import type { Config } from '#shared/config/schema.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRepositories } from '#shared/db/create-repositories.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import type { Runtime } from '#shared/ports/runtime.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createKeyHasher } from '#shared/runtime/secrets/secret-box.ts'
import { accountAudit } from '#shared/usecases/accounts/account-audit.ts'
import { createOperator, newPassword, resetPassword } from '#shared/usecases/accounts/manage-operators.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { issueApiKey } from '#shared/usecases/workspaces/issue-api-key.ts'
import { readPrivate, writePrivate } from './private-file.ts'

/** The initial workspace of a development installation. */
export interface Seed {
  readonly workspaceId: string
  readonly testKey: string
  readonly liveKey: string
  readonly ownerEmail: string
  /** Generated at the first start; null once the owner has set another one. */
  readonly ownerPassword: string | null
}

const OWNER_EMAIL = 'owner@paymesh.localhost'
const OWNER_NAME = 'Olivia Owner'

/**
 * The seeded workspace of a data folder with one key per mode and every scope, and its owner, who is also an instance admin: the
 * stored one if the database still has it, otherwise a new one. Keys and password stay the same over restarts.
 */
export async function keepSeed(dataDir: string, db: Database, config: Config, runtime: Runtime): Promise<Seed> {
  const file = join(dataDir, 'seed.json')
  const stored = readPrivate<Tenant>(file)
  const tools = toolsOf(db, config, runtime)
  const tenant = (await isKnown(tools, stored)) && stored !== null ? stored : await seedTenant(tools)
  const seed = await withOwner(tools, tenant)
  if (seed.ownerPassword !== null) writePrivate(file, seed)
  return seed
}

type Tenant = Pick<Seed, 'workspaceId' | 'testKey' | 'liveKey'> & Partial<Seed>
type Tools = ReturnType<typeof toolsOf>

function toolsOf(db: Database, config: Config, runtime: Runtime) {
  return {
    ...runtime,
    ...createRepositories(db, runtime),
    passwords: createPasswordHasher(),
    hasher: createKeyHasher(config.secrets.keyPepper),
  }
}

async function isKnown({ apiKeys, hasher }: Tools, stored: Tenant | null): Promise<boolean> {
  if (stored === null) return false
  const known = await Promise.all([stored.testKey, stored.liveKey].map((key) => apiKeys.findByHash(hasher.hash(key))))
  return known.every((record) => record?.workspaceId === stored.workspaceId && record.revokedAt === null)
}

async function seedTenant(tools: Tools): Promise<Tenant> {
  const workspace = await createWorkspace(tools, { name: 'Corner Shop', ownerEmail: OWNER_EMAIL, actor: 'start' })
  const keyOf = async (mode: 'live' | 'test') => {
    const action = { opId: tools.random.uuid(), actor: 'start', reason: null }
    const { apiKey } = await issueApiKey(tools, { workspaceId: workspace.id, mode, scopes: SCOPES, action })
    if (apiKey === null) throw new Error('a new key was issued before')
    return apiKey
  }
  return { workspaceId: workspace.id, testKey: await keyOf('test'), liveKey: await keyOf('live') }
}

/** The owner of the stored password, or a new one; in a database that already has the person, they get a new password and the workspace. */
async function withOwner(tools: Tools, tenant: Tenant): Promise<Seed> {
  const { workspaceId, ownerEmail, ownerPassword } = tenant
  const known = await tools.users.findByEmail(OWNER_EMAIL)
  const roles = known === null ? null : await tools.memberships.rolesOf(known.id)
  if (known !== null && roles?.has(workspaceId) === true && ownerEmail !== undefined) {
    const isKept = await tools.passwords.verify(known.passwordHash, ownerPassword ?? '')
    return { ...tenant, ownerEmail, ownerPassword: isKept && ownerPassword !== undefined ? ownerPassword : null }
  }
  const password = newPassword(tools)
  const member = { workspaceId, role: 'owner' } as const
  const facts = { email: OWNER_EMAIL, name: OWNER_NAME, password, isOperator: true, member, actor: 'start' }
  if (known === null) await createOperator(tools, facts)
  else {
    await resetPassword(tools, { email: OWNER_EMAIL, password, actor: 'start' })
    const joined = accountAudit(tools, 'start', 'member.joined', known.id, { email: OWNER_EMAIL, role: 'owner' })
    const audit = { ...joined, workspaceId }
    await tools.memberships.add({ ...member, userId: known.id, since: tools.clock.now() }, { audit })
  }
  return { ...tenant, ownerEmail: OWNER_EMAIL, ownerPassword: password }
}
