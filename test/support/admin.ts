import { createHash } from 'node:crypto'
import { appRouter } from '#services/admin/app-router.ts'
import { type AdminDeps, assembleAdmin } from '#services/admin/assemble.ts'
import { openAdminParts } from '#services/admin/open-admin-parts.ts'
import { createCallerFactory } from '#services/admin/trpc.ts'
import { MEMBERSHIPS } from '#shared/db/accounts/operator-models.ts'
import type { Mode } from '#shared/domain/enumerations.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import type { Role } from '#shared/ports/users.ts'
import { createPasswordHasher } from '#shared/runtime/secrets/password-hasher.ts'
import { createOperator } from '#shared/usecases/accounts/manage-operators.ts'
import { createWorkspace } from '#shared/usecases/workspaces/create-workspace.ts'
import { serviceContext } from './service-context.ts'
import type { TestStores } from './stores.ts'

const createCaller = createCallerFactory(appRouter)
const NODE = { rpcUrls: ['http://127.0.0.1:1'], chainId: 31337, confirmations: 3 }
const FIVE_MINUTES_MS = 300_000
/** The same kind of hash for a fraction of the work; password-hasher.test.ts checks the full cost. */
const QUICK_PASSWORDS = createPasswordHasher({ memoryCost: 64, timeCost: 1, parallelism: 1 })

/** Who calls. A person who may do everything in the workspace unless narrowed, and nothing of the installation. */
export interface AdminCallerOptions {
  /** Default `owner`; null = this person belongs to other workspaces only. */
  readonly role?: Role | null
  /** Default `test`. */
  readonly mode?: Mode
  /** Default `given`. */
  readonly secondFactor?: OperatorSession['secondFactor']
  /** Default true: a code was given for dangerous actions. */
  readonly steppedUp?: boolean
  /** Runs the installation. Default false. */
  readonly operator?: boolean
  readonly email?: string
  /** Also stores the person; default false: only their membership is stored. */
  readonly stored?: boolean
  /** An existing workspace; default a new one. */
  readonly workspaceId?: string
  /** Replaces parts of what the procedures work with. */
  readonly deps?: (deps: AdminDeps) => Partial<AdminDeps>
  /** Settings beside those of `serviceContext`. */
  readonly env?: Readonly<Record<string, string>>
}

/** Somebody who is logged in, with the procedures they may call. */
export type AdminCaller = Awaited<ReturnType<typeof adminCaller>>

/**
 * A caller of every procedure on real stores, with a session that is made up and a workspace that is real. Call it in hooks
 * or tests of a file that uses `useStores`. `at` is the workspace and mode that most inputs begin with.
 */
export async function adminCaller(stores: TestStores, options: AdminCallerOptions = {}) {
  const { role = 'owner', mode = 'test', email = 'olivia@example.com' } = options
  const wakeUps: string[] = []
  const notifier = { notify: (queue: string, id: string) => void wakeUps.push(`${queue} ${id}`) }
  const env = { PAYMESH_ENV: 'test', PAYMESH_NETWORKS: JSON.stringify({ test: { ethereum: NODE } }), ...options.env }
  const wired = assembleAdmin({ ...openAdminParts(serviceContext(stores, env)), notifier, passwords: QUICK_PASSWORDS })
  const deps: AdminDeps = { ...wired, ...options.deps?.(wired) }
  const workspaceId =
    options.workspaceId ?? (await createWorkspace(deps, { name: 'Shop', ownerEmail: email, actor: 'test' })).id
  const person =
    options.stored === true && role !== null ? await storedPerson(deps, { email, workspaceId, role }) : null
  const session: OperatorSession = {
    id: createHash('sha256').update(deps.random.bytes(32)).digest('hex'),
    loginId: deps.random.uuid(),
    userId: person ?? deps.random.uuid(),
    securityEpoch: 0,
    email,
    name: 'Olivia Ortiz',
    isOperator: options.operator ?? false,
    roles: role === null ? new Map() : new Map([[workspaceId, role]]),
    secondFactor: options.secondFactor ?? 'given',
    steppedUpUntil: (options.steppedUp ?? true) ? deps.clock.now() + FIVE_MINUTES_MS : null,
  }
  if (person === null && role !== null) {
    const member = { workspaceId, userId: session.userId, role, since: new Date(0), turn: 0 }
    await stores.db.collection(MEMBERSHIPS).insertOne({ _id: `${workspaceId}:${session.userId}`, ...member })
  }
  const caller = createCaller({
    requestId: 'req_test',
    ip: '127.0.0.1',
    userAgent: 'vitest',
    session,
    deps,
    device: null,
    setSessionToken: () => undefined,
    setDevice: () => undefined,
  })
  return { caller, deps, session, workspaceId, wakeUps, at: { workspaceId, mode } }
}

async function storedPerson(
  deps: AdminDeps,
  { email, workspaceId, role }: { readonly email: string; readonly workspaceId: string; readonly role: Role },
): Promise<string> {
  const known = await deps.users.findByEmail(email)
  if (known === null) {
    const facts = { email, name: 'Olivia Ortiz', password: 'four words are good', isOperator: false, actor: 'test' }
    return (await createOperator(deps, { ...facts, member: { workspaceId, role } })).id
  }
  const audit = {
    id: deps.random.uuid(),
    at: 0,
    actor: 'test',
    action: 'member.joined' as const,
    subject: known.id,
    workspaceId,
  }
  const membership = { workspaceId, userId: known.id, role, since: deps.clock.now() }
  await deps.memberships.add(membership, { audit: { ...audit, mode: null, detail: {} } })
  return known.id
}
