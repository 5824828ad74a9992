import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { INVITATIONS } from '#shared/db/accounts/operator-models.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import { readInvitation } from '#shared/usecases/accounts/accept-invitation.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { ADMIN_ORIGIN, openAdmin } from '#test/support/admin-http.ts'
import { useStores } from '#test/support/stores.ts'

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(() => admin.close())

const opId = () => admin.deps.random.uuid()

/** The token in the mailed link, as only its reader sees it. */
async function mailedToken(to: string): Promise<string> {
  const stored = await stores.db.collection(MAILS).findOne({ to, template: 'member_invited' })
  const mail = await openSealedMails(createMailQueue(stores.db), admin.deps.secretBox).findById(stored?._id ?? '')
  if (mail === null) throw new Error(`no invitation was mailed to ${to}`)
  const url = /http\S+#\S+/.exec(renderMail(mail).text)?.[0] ?? ''
  expect(url).toContain(`${ADMIN_ORIGIN}/invitation#`)
  const token = url.slice(url.indexOf('#') + 1)
  expect(JSON.stringify(stored)).not.toContain(token)
  expect(JSON.stringify(await stores.db.collection(INVITATIONS).find().toArray())).not.toContain(token)
  return token
}

/** The owner of a new workspace, who is a person with a membership there. */
async function owner(options: { readonly email?: string; readonly workspaceId?: string } = {}): Promise<AdminCaller> {
  return await adminCaller(stores, {
    ...options,
    stored: true,
    deps: () => ({ clock: admin.deps.clock }),
    env: { PAYMESH_PUBLIC_ADMIN_URL: ADMIN_ORIGIN },
  })
}

describe('inviting', () => {
  test('a link that is good once makes a person with the role', async () => {
    const { caller, at } = await owner()
    const invite = { ...at, opId: opId(), email: 'Luis@Example.com', role: 'support' as const }
    const invitation = await caller.members.invite(invite)
    expect(await caller.members.invite(invite)).toEqual(invitation)
    expect((await caller.members.list(at)).invitations).toHaveLength(1)
    const token = await mailedToken('luis@example.com')

    const browser = admin.browser()
    expect((await browser.query('auth.invitation', { token })).data).toMatchObject({
      role: 'support',
      mustLogIn: false,
    })
    const accept = { token, name: 'Luis Peña', password: 'four words are good' }
    expect((await browser.mutate('auth.acceptInvitation', { ...accept, password: 'short' })).status).toBe(400)
    const twice = await Promise.all(
      [browser, admin.browser()].map((each) => each.mutate('auth.acceptInvitation', accept)),
    )
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 404])
    const { members, invitations } = await caller.members.list(at)
    expect(members.map(({ email, role }) => `${email} ${role}`)).toEqual([
      'olivia@example.com owner',
      'luis@example.com support',
    ])
    expect(invitations).toEqual([])
    expect((await admin.browser().query('auth.invitation', { token })).status).toBe(404)
    expect((await admin.browser().logIn('luis@example.com')).status).toBe(200)
  })

  test('a link that somebody uses meanwhile is no longer valid, and asks nobody to log in', async () => {
    const { caller, at } = await owner()
    await caller.members.invite({ ...at, opId: opId(), email: 'twice@example.com', role: 'viewer' })
    const token = await mailedToken('twice@example.com')
    const accept = { token, name: 'Tess', password: 'four words are good' }
    const { users } = admin.deps
    const findByEmail: typeof users.findByEmail = async (email) => {
      expect((await admin.browser().mutate('auth.acceptInvitation', accept)).status).toBe(200)
      return await users.findByEmail(email)
    }
    const origin = { ip: '203.0.113.9', group: 'late', userAgent: '', device: null }
    const late = readInvitation({ ...admin.deps, users: { ...users, findByEmail } }, { token, origin })
    await expect(late).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('a person who exists must be logged in as the one who was invited', async () => {
    const { caller, at } = await owner()
    await admin.addPerson('ana@example.com', 'viewer')
    await admin.addPerson('other@example.com', 'viewer')
    await caller.members.invite({ ...at, opId: opId(), email: 'ana@example.com', role: 'admin' })
    const accept = { token: await mailedToken('ana@example.com'), name: null, password: null }
    const [other, ana] = [admin.browser(), admin.browser()]
    await other.logIn('other@example.com')
    expect((await other.mutate('auth.acceptInvitation', accept)).status).toBe(409)
    await ana.logIn('ana@example.com')
    expect((await ana.mutate('auth.acceptInvitation', accept)).status).toBe(200)
    const { workspaces } = (await ana.query('auth.me')).data
    expect(workspaces.map(({ role }: { role: string }) => role).sort()).toEqual(['admin', 'viewer'])
    const again = { ...at, opId: opId(), email: 'ana@example.com', role: 'owner' as const }
    await expect(caller.members.invite(again)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('a link ends after seven days, and when it is withdrawn', async () => {
    const { caller, at } = await owner()
    await caller.members.invite({ ...at, opId: opId(), email: 'late@example.com', role: 'viewer' })
    const kept = await caller.members.invite({ ...at, opId: opId(), email: 'gone@example.com', role: 'viewer' })
    const [late, gone] = [await mailedToken('late@example.com'), await mailedToken('gone@example.com')]
    const stranger = await owner()
    const foreign = { ...stranger.at, opId: opId(), invitationId: kept.id }
    await expect(stranger.caller.members.withdrawInvitation(foreign)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await caller.members.withdrawInvitation({ ...at, opId: opId(), invitationId: kept.id })
    expect((await admin.browser().query('auth.invitation', { token: gone })).status).toBe(404)
    admin.advance(7 * 86_400_000)
    expect((await admin.browser().query('auth.invitation', { token: late })).status).toBe(404)
    expect((await caller.members.list(at)).invitations).toEqual([])
  })
})

describe('changing roles', () => {
  // Guarantee: a workspace always has an owner, even when its last two owners demote each other in the same moment.
  test('the last owner stays', async () => {
    for (let round = 0; round < 5; round += 1) {
      const wired = () => ({ clock: admin.deps.clock })
      const first = await adminCaller(stores, { stored: true, email: `o${opId()}@example.com`, deps: wired })
      const { workspaceId, at } = first
      const other = await adminCaller(stores, {
        stored: true,
        email: `o${opId()}@example.com`,
        workspaceId,
        deps: wired,
      })
      const outcomes = await Promise.allSettled([
        first.caller.members.setRole({
          ...at,
          opId: opId(),
          userId: other.session.userId,
          from: 'owner',
          to: 'viewer',
        }),
        other.caller.members.remove({ ...at, opId: opId(), userId: first.session.userId, from: 'owner' }),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const left = (await first.deps.memberships.list(workspaceId)).filter(({ role }) => role === 'owner')
      expect(left).toHaveLength(1)
    }
  })

  test('a new role counts at once, a repeated action is one, and a stale one is refused', async () => {
    const { caller, at, workspaceId, deps } = await owner()
    const { id: userId } = await admin.addPerson('rita@example.com', 'viewer')
    const audit = {
      id: opId(),
      at: 0,
      actor: 'test',
      action: 'golive.master_key_stated' as const,
      subject: userId,
      workspaceId,
      mode: null,
      detail: {},
    }
    await deps.memberships.add({ workspaceId, userId, role: 'viewer', since: 0 }, { audit })
    const rita = admin.browser()
    await rita.logIn('rita@example.com')
    expect((await rita.query('apiKeys.list', at)).status).toBe(403)
    const promote = {
      ...at,
      opId: opId(),
      userId,
      from: 'viewer' as const,
      to: 'admin' as const,
      reason: 'She keeps the shop',
    }
    await caller.members.setRole(promote)
    await caller.members.setRole(promote)
    expect((await rita.query('apiKeys.list', at)).status).toBe(200)
    const stale = { ...at, opId: opId(), userId, from: 'viewer' as const, to: 'support' as const }
    await expect(caller.members.setRole(stale)).rejects.toMatchObject({ code: 'CONFLICT' })
    const rows = await deps.audits.listBySubject(userId)
    expect(rows.filter(({ action }) => action === 'member.role_changed')).toMatchObject([
      { actor: 'user:olivia@example.com', detail: { from: 'viewer', to: 'admin', reason: 'She keeps the shop' } },
    ])
    const remove = { ...at, opId: opId(), userId, from: 'admin' as const }
    await caller.members.remove(remove)
    await caller.members.remove(remove)
    expect((await rita.query('apiKeys.list', at)).status).toBe(404)
  })

  test('people of other workspaces cannot be told from unknown ones', async () => {
    const { caller, at } = await owner()
    const { id: userId } = await admin.addPerson('far@example.com')
    const errors = await Promise.all(
      [userId, opId()].map((id) =>
        caller.members
          .remove({ ...at, opId: opId(), userId: id, from: 'owner' })
          .catch((error: unknown) => String(error)),
      ),
    )
    expect(errors[0]).toContain('Resource not found.')
    expect(errors[1]).toBe(errors[0])
    expect((await caller.members.list(at)).members).toHaveLength(1)
  })
})
