import { randomUUID } from 'node:crypto'
import type { AdminDeps } from '#services/admin/assemble.ts'
import type { AttackWorld } from '#services/admin/attack-world.fixture.ts'
import type { AuditAction, TakenBackAction } from '#shared/domain/marks/taken-back.ts'
import { endpointSecretContext, totpContext } from '#shared/ports/secrets.ts'
import { changePassword } from '#shared/usecases/accounts/change-password.ts'
import { removeAuthenticator, renewRecoveryCodes } from '#shared/usecases/accounts/enrol-authenticator.ts'
import { logIn } from '#shared/usecases/accounts/log-in.ts'
import { createOperator, resetAuthenticator, resetPassword } from '#shared/usecases/accounts/manage-operators.ts'
import { tokenHashOf } from '#shared/usecases/accounts/operator-sessions.ts'
import { completePasswordReset } from '#shared/usecases/accounts/reset-own-password.ts'
import { recoveryHash, useRecoveryCode } from '#shared/usecases/accounts/second-factor.ts'
import { createKeyRing } from '#shared/usecases/workspaces/api-key-cache.ts'
import { settingsAudit } from '#shared/usecases/workspaces/settings-audit.ts'
import { updateWorkspace } from '#shared/usecases/workspaces/update-workspace.ts'
import { adminCaller } from '#test/support/admin.ts'
import { evmAccounts, proofOf } from '#test/support/prove-control.ts'
import type { TestStores } from '#test/support/stores.ts'

/** What a story has prepared before the archive is made. */
export interface PreparedStory {
  /** The real act, after the archive. */
  readonly act: () => Promise<unknown>
  /** Whether what the act takes back is there, as its reader sees it. */
  readonly isGiven: (deps: AdminDeps) => Promise<boolean>
}
type Story = (world: AttackWorld, stores: TestStores) => Promise<PreparedStory>

export const CUSTOMER = { email: 'quimera.unica@example.com', name: 'Quimera Unica' }
const PASSWORD = 'four words are good'
const NEXT = 'four other words here'
const CODE = 'abcde-fghjk'
const origin = { ip: '192.0.2.9', group: '192.0.2.9', userAgent: 'vitest', device: null }
const op = () => ({ opId: randomUUID() })

const works = async (attempt: Promise<unknown>): Promise<boolean> =>
  await attempt.then(
    () => true,
    () => false,
  )
const canLogIn = (deps: AdminDeps, email: string) => works(logIn(deps, { email, password: PASSWORD, origin }))

const auditOf = (subject: string, action: AuditAction) => ({
  audit: { id: randomUUID(), at: 1, actor: 'user:x', action, subject, workspaceId: null, mode: null, detail: {} },
})

/** Somebody who logged in with a password; with `hasFactor` they have an authenticator and one recovery code. */
async function somebody({ boss, person }: AttackWorld, hasFactor: boolean) {
  const { deps } = boss
  const { id, email } = await person('admin')
  const confirmFactor = async (secret: string) => {
    const [acting] = await deps.sessions.listByUser(id)
    if (acting === undefined) throw new Error('no session')
    const sealedSecret = deps.secretBox.seal(secret, totpContext(id))
    const recoveryHashes = [recoveryHash(deps, id, CODE)]
    await deps.users.setPendingTotp(acting, { sealedSecret, at: 1 }, auditOf(id, 'auth.authenticator_requested'))
    const confirmed = { sealedSecret, lastStep: 1, at: 1, recoveryHashes }
    await deps.users.confirmTotp(
      { session: acting, keepDevice: null },
      confirmed,
      auditOf(id, 'auth.authenticator_set'),
    )
  }
  await logIn(deps, { email, password: PASSWORD, origin })
  if (hasFactor) await confirmFactor('FORMER')
  const [session] = await deps.sessions.listByUser(id)
  if (session === undefined) throw new Error('no session')
  return { id, email, session, confirmFactor }
}
type Somebody = Awaited<ReturnType<typeof somebody>>

const password =
  (act: (deps: AdminDeps, one: Somebody) => Promise<unknown>): Story =>
  async (world) => {
    const one = await somebody(world, false)
    return { act: () => act(world.boss.deps, one), isGiven: (deps) => canLogIn(deps, one.email) }
  }

/** Given: the password opens a log-in, or the former factor or its codes are there. */
const factor =
  (act: (deps: AdminDeps, one: Somebody) => Promise<unknown>): Story =>
  async (world) => {
    const one = await somebody(world, true)
    const isGiven = async (deps: AdminDeps) => {
      const now = await deps.users.findById(one.id)
      const hasFactor = now === null || now.totp !== null || now.recoveryHashes.length > 0
      return hasFactor || (await canLogIn(deps, one.email))
    }
    return { act: () => act(world.boss.deps, one), isGiven }
  }

const useCode = async (deps: AdminDeps, id: string) => {
  const user = await deps.users.findById(id)
  if (user === null) throw new Error('nobody')
  await useRecoveryCode(deps, user, { code: CODE, origin, counter: randomUUID() })
}
const codes =
  (act: (deps: AdminDeps, one: Somebody) => Promise<unknown>): Story =>
  async (world) => {
    const one = await somebody(world, true)
    return { act: () => act(world.boss.deps, one), isGiven: (deps) => works(useCode(deps, one.id)) }
  }

const endpoint =
  (
    act: (world: AttackWorld, endpointId: string) => Promise<unknown>,
    isGiven: (deps: AdminDeps, endpointId: string, secret: string) => Promise<boolean>,
    mode: 'test' | 'both' = 'test',
  ): Story =>
  async (world) => {
    const { secretBox, random } = world.boss.deps
    const id = random.uuid()
    const secret = `whsec_${Buffer.from(random.bytes(32)).toString('base64')}`
    await world.endpoint({ id, mode, sealedSecrets: [secretBox.seal(secret, endpointSecretContext(id))] })
    return { act: () => act(world, id), isGiven: (deps) => isGiven(deps, id, secret) }
  }
const isOn = async (deps: AdminDeps, id: string) => (await deps.endpoints.findById(id))?.status === 'enabled'

const refund =
  (act: (world: AttackWorld, refundId: string) => Promise<unknown>): Story =>
  async (world) => {
    const { caller, at, workspaceId } = world.boss
    const opened = await caller.invoices.openRefund({ ...at, ...op(), id: await world.paid(), amount: '1' })
    const isGiven = async ({ refunds }: AdminDeps) => {
      const status = (await refunds.findInWorkspace(workspaceId, 'test', opened.id))?.status
      return status === 'requested' || status === 'addressed'
    }
    return { act: () => act(world, opened.id), isGiven }
  }

/** Stories of members: somebody with a role, and what was left of it. */
const member =
  (act: (world: AttackWorld, userId: string) => Promise<unknown>): Story =>
  async (world) => {
    const { id } = await world.person('admin')
    const isGiven = async ({ memberships }: AdminDeps) =>
      (await memberships.find(world.boss.workspaceId, id))?.role === 'admin'
    return { act: () => act(world, id), isGiven }
  }

const wallet =
  (effectiveAt?: number): Story =>
  async ({ boss: { caller, at, deps, workspaceId } }) => {
    const id = randomUUID()
    await deps.wallets.insertWallet({
      ...{ id, workspaceId, mode: 'test', family: 'evm', networks: ['ethereum'], kind: 'xpub', materialId: id },
      ...{ createdAt: 1, disabledAt: null, ...(effectiveAt !== undefined && { effectiveAt }) },
    })
    const isGiven = async ({ wallets }: AdminDeps) => (await wallets.findWallet(id))?.disabledAt === null
    return { act: () => caller.wallets.disable({ ...at, ...op(), walletId: id }), isGiven }
  }

const displaced: Story = async ({ boss }, stores) => {
  const accounts = evmAccounts(1)
  const entered = { family: 'evm', kind: 'address', value: accounts[0]?.address ?? '' } as const
  const added = await boss.caller.wallets.add({ ...boss.at, mode: 'live', ...op(), ...entered })
  const act = async () => {
    const bob = await adminCaller(stores, { mode: 'live', email: 'bob@example.com' })
    await bob.caller.wallets.add({ ...bob.at, ...op(), ...entered, proof: await proofOf(bob, entered, accounts) })
  }
  return { act, isGiven: async ({ wallets }) => (await wallets.findWallet(added.wallet.id))?.disabledAt === null }
}

const erased: Story = async (world) => {
  const { caller, at, deps, workspaceId } = world.boss
  const id = await world.invoice({ customer: CUSTOMER })
  await caller.invoices.addNote({ ...at, ...op(), id, text: `${CUSTOMER.name} called` })
  await world.exception({ invoiceId: id })
  await world.count()
  const scope = `${workspaceId}:test:POST:/invoices/${id}/cancel:${randomUUID()}`
  const body = deps.secretBox.seal(JSON.stringify({ id, customer: CUSTOMER }), scope)
  await deps.idempotency.begin(scope, 'f', randomUUID(), deps.clock.now(), 1_000)
  await deps.idempotency.finish(scope, 1, { status: 200, body })
  const isGiven = async (now: AdminDeps) => {
    const invoice = await now.invoices.findInWorkspace(workspaceId, 'test', id)
    const answers = await now.eraser.storedAnswers({ workspaceId, mode: 'test', invoiceId: id })
    const texts = answers.map((answer) => now.secretBox.open(answer.body, answer.scope)).join()
    return invoice?.terms.customer.name !== null || texts.includes(CUSTOMER.name)
  }
  return { act: () => caller.invoices.eraseCustomer({ ...at, ...op(), id, reason: 'requested' }), isGiven }
}

const invitation: Story = async ({ boss: { caller, at } }) => {
  const email = `w${randomUUID()}@example.com`
  const { id } = await caller.members.invite({ ...at, ...op(), email, role: 'viewer' })
  const isGiven = async ({ invitations }: AdminDeps) => (await invitations.findById(id))?.closed === null
  return { act: () => caller.members.withdrawInvitation({ ...at, ...op(), invitationId: id }), isGiven }
}

const apiKey: Story = async ({ boss: { caller, at } }) => {
  const made = await caller.apiKeys.create({ ...at, ...op(), name: 'Shop', scopes: ['invoices:read'] })
  const isGiven = async (deps: AdminDeps) =>
    (await createKeyRing({ ...deps, keys: deps.apiKeys }).find(made.apiKey ?? '')) !== null
  return { act: () => caller.apiKeys.revoke({ ...at, ...op(), keyId: made.key.id, last4: made.key.last4 }), isGiven }
}

const link: Story = async ({ boss: { caller, at, workspaceId } }) => {
  const terms = { title: 'Mate', currency: 'USD', amount: '5' }
  const { id } = await caller.paymentLinks.create({ ...at, ...op(), link: terms })
  const isGiven = async ({ paymentLinks }: AdminDeps) =>
    (await paymentLinks.findInWorkspace(workspaceId, 'test', id))?.status === 'active'
  return { act: () => caller.paymentLinks.deactivate({ ...at, ...op(), id }), isGiven }
}

const suspension: Story = async (_world, stores) => {
  const { deps, workspaceId } = await adminCaller(stores, { email: 'former@example.com' })
  const change = { status: 'suspended', ownerEmail: 'later@example.com', limits: { webhookEndpoints: 3 } } as const
  const about = { workspaceId, change, action: { opId: randomUUID(), actor: 'cli:root', reason: null } }
  const act = () => updateWorkspace(deps, { workspaceId, change, audit: settingsAudit(deps, randomUUID(), about) })
  const isGiven = async ({ workspaces }: AdminDeps) => {
    const now = await workspaces.findById(workspaceId)
    return now?.status !== 'suspended' || now.ownerEmail === 'former@example.com' || now.limits.webhookEndpoints !== 3
  }
  return { act, isGiven }
}

/** Somebody joins with an invitation that is open in the archive, and is removed: the invitation must not let them in again. */
export const joinedAndRemoved: Story = async ({ boss: { caller, at, deps, workspaceId } }) => {
  const email = `j${randomUUID()}@example.com`
  const { id } = await caller.members.invite({ ...at, ...op(), email, role: 'admin' })
  const act = async () => {
    const facts = { email, name: 'Juana', password: PASSWORD, isOperator: false, actor: 'test' }
    const { id: userId } = await createOperator(deps, { ...facts, member: { workspaceId, role: 'admin' } })
    await caller.members.remove({ ...at, ...op(), userId, from: 'admin' })
  }
  return { act, isGiven: async ({ invitations }) => (await invitations.findById(id))?.closed === null }
}

/** The one owner of the archive hands over to a person of later and is removed. */
export const lastOwner: Story = async (_world, stores) => {
  const former = await adminCaller(stores, { email: 'owner-of-then@example.com', stored: true })
  const { deps, workspaceId, session, caller, at } = former
  const act = async () => {
    const facts = { email: 'owner-of-now@example.com', name: 'Nora', password: PASSWORD, isOperator: false }
    await createOperator(deps, { ...facts, actor: 'test', member: { workspaceId, role: 'owner' } })
    await caller.members.remove({ ...at, ...op(), userId: session.userId, from: 'owner' })
  }
  return { act, isGiven: async ({ memberships }) => (await memberships.find(workspaceId, session.userId)) !== null }
}

/** Each act that takes something back, through its use case. */
export const STORIES: Readonly<Record<TakenBackAction, Story>> = {
  'api_key.revoked': apiKey,
  'auth.authenticator_removed': factor((deps, { session }) => removeAuthenticator(deps, session, origin)),
  'auth.authenticator_set': factor((_deps, { confirmFactor }) => confirmFactor('LATER')),
  'auth.password_changed': password((deps, { session }) =>
    changePassword(deps, session, { password: PASSWORD, next: NEXT, origin }),
  ),
  'auth.password_reset': password(async (deps, { id, email }) => {
    const [token, user] = [randomUUID(), await deps.users.findById(id)]
    const securityEpoch = user?.securityEpoch ?? 0
    const reset = { userId: id, tokenHash: tokenHashOf(token), securityEpoch, expiresAt: deps.clock.now() + 60_000 }
    await deps.resets.insert(reset, 1, deps.clock.now(), auditOf(email, 'auth.reset_requested'))
    await completePasswordReset(deps, { token, password: NEXT, origin })
  }),
  'auth.recovery_code_used': codes((deps, { id }) => useCode(deps, id)),
  'auth.recovery_codes_renewed': codes((deps, { session }) =>
    renewRecoveryCodes(deps, session, { id: randomUUID(), isDone: false }),
  ),
  'endpoint.deleted': endpoint(
    ({ boss: { caller, at } }, endpointId) => caller.endpoints.remove({ ...at, ...op(), endpointId }),
    async (deps, id) => (await deps.endpoints.findById(id)) !== null,
  ),
  'endpoint.disabled': endpoint(
    ({ boss: { caller, at } }, endpointId) =>
      caller.endpoints.setStatus({ ...at, ...op(), endpointId, status: 'disabled' }),
    isOn,
  ),
  'endpoint.restricted_to_live': endpoint(
    ({ boss: { caller, at } }, endpointId) => caller.endpoints.remove({ ...at, ...op(), endpointId }),
    async (deps, id) => (await deps.endpoints.findById(id))?.mode === 'both',
    'both',
  ),
  'endpoint.secret_rotated': endpoint(
    ({ boss: { caller, at } }, endpointId) => caller.endpoints.rotate({ ...at, ...op(), endpointId, overlapMs: 0 }),
    async (deps, id, secret) => {
      const now = await deps.endpoints.findById(id)
      const sealed = [...(now?.sealedSecrets ?? []), ...(now?.formerSecrets ?? []).map((one) => one.sealed)]
      const signs = sealed.some((one) => deps.secretBox.open(one, endpointSecretContext(id)) === secret)
      return signs || (await isOn(deps, id))
    },
  ),
  'invoice.customer_erased': erased,
  'member.invitation_withdrawn': invitation,
  'member.removed': member(({ boss: { caller, at } }, userId) =>
    caller.members.remove({ ...at, ...op(), userId, from: 'admin' }),
  ),
  'member.role_changed': member(({ boss: { caller, at } }, userId) =>
    caller.members.setRole({ ...at, ...op(), userId, from: 'admin', to: 'viewer' }),
  ),
  'operator.authenticator_reset': factor((deps, { email }) => resetAuthenticator(deps, { email, actor: 'cli:root' })),
  'operator.password_reset': password((deps, { email }) =>
    resetPassword(deps, { email, password: NEXT, actor: 'cli:root' }),
  ),
  'payment_link.deactivated': link,
  'refund.sent': refund(({ boss: { caller, at } }, refundId) =>
    caller.invoices.recordRefund({ ...at, ...op(), refundId, txHash: `0x${'ab'.repeat(32)}` }),
  ),
  'refund.withdrawn': refund(({ boss: { caller, at } }, refundId) =>
    caller.invoices.withdrawRefund({ ...at, ...op(), refundId }),
  ),
  'wallet.cancelled': wallet(4_000_000_000_000),
  'wallet.disabled': wallet(),
  'wallet.displaced': displaced,
  'workspace.settings_changed': suspension,
}
