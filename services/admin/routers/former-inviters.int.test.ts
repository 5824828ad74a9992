import { afterAll, beforeAll, expect, test } from 'vitest'
import { INVITATIONS } from '#shared/db/accounts/operator-models.ts'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import type { AuditAction } from '#shared/domain/marks/taken-back.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { type AdminCaller, adminCaller } from '#test/support/admin.ts'
import { ADMIN_ORIGIN, openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'
import { useStores } from '#test/support/stores.ts'

const WHY = /can no longer invite people to this workspace/

const stores = useStores()
let admin: Awaited<ReturnType<typeof openAdmin>>
beforeAll(async () => {
  admin = await openAdmin(stores)
})
afterAll(() => admin.close())

const op = () => ({ opId: admin.deps.random.uuid() })
let names = 0
const address = (name: string) => {
  names += 1
  return `${name}${names}@example.com`
}

/** A workspace with two owners: one who invites, and one who then changes what the first may do. */
async function twoOwners() {
  const wired = {
    stored: true,
    deps: () => ({ clock: admin.deps.clock }),
    env: { PAYMESH_PUBLIC_ADMIN_URL: ADMIN_ORIGIN },
  }
  const inviter = await adminCaller(stores, { ...wired, email: address('inviter') })
  const { workspaceId } = inviter
  const other = await adminCaller(stores, { ...wired, email: address('other'), workspaceId })
  return { inviter, other }
}

/** Invites somebody new; what they send to join. */
async function invited({ caller, at }: AdminCaller) {
  const email = address('guest')
  const { id } = await caller.members.invite({ ...at, ...op(), email, role: 'owner' })
  const stored = await stores.db.collection(MAILS).findOne({ to: email, template: 'member_invited' })
  const mail = await openSealedMails(createMailQueue(stores.db), admin.deps.secretBox).findById(stored?._id ?? '')
  const token = /#(\S{43})/.exec(mail === null ? '' : renderMail(mail).text)?.[1] ?? ''
  return { id, email, join: { token, name: 'Gus', password: PASSWORD } }
}

const emails = async ({ caller, at }: AdminCaller) =>
  (await caller.members.list(at)).members.map(({ email }) => email).sort()

// Guarantee: somebody who was removed has left no way in behind.
test('an invitation is void once its inviter was removed, and stays void when they come back', async () => {
  const { inviter, other } = await twoOwners()
  const guest = await invited(inviter)
  const { userId, email } = inviter.session
  await other.caller.members.remove({ ...other.at, ...op(), userId, from: 'owner' })
  const browser = admin.browser()
  for (const answer of [
    await browser.query('auth.invitation', { token: guest.join.token }),
    await browser.mutate('auth.acceptInvitation', guest.join),
  ]) {
    expect(answer.status).toBe(409)
    expect(answer.error.message).toMatch(WHY)
  }
  expect((await other.caller.members.list(other.at)).invitations).toEqual([])
  const back = {
    audit: { ...op(), id: op().opId, at: 1, actor: 'test', action: 'member.joined' as const, subject: userId },
  }
  const { opId: _opId, ...audit } = back.audit
  const auditWrite = { audit: { ...audit, workspaceId: other.workspaceId, mode: null, detail: {} } }
  await admin.deps.memberships.add({ workspaceId: other.workspaceId, userId, role: 'owner', since: 1 }, auditWrite)
  expect((await browser.mutate('auth.acceptInvitation', guest.join)).status).toBe(409)
  expect(await emails(other)).toEqual([email, other.session.email].sort())
  expect((await browser.logIn(guest.email)).status).toBe(401)
})

test('a role that may not invite voids it as well; a role that is changed to the same does not', async () => {
  const { inviter, other } = await twoOwners()
  const [one, two] = [await invited(inviter), await invited(other)]
  const { userId } = inviter.session
  await other.caller.members.setRole({ ...other.at, ...op(), userId, from: 'owner', to: 'owner' })
  expect((await admin.browser().query('auth.invitation', { token: one.join.token })).status).toBe(200)
  await other.caller.members.setRole({ ...other.at, ...op(), userId, from: 'owner', to: 'admin' })
  expect((await admin.browser().mutate('auth.acceptInvitation', one.join)).status).toBe(409)
  expect((await admin.browser().mutate('auth.acceptInvitation', two.join)).status).toBe(200)
})

test('a person who exists is told the same, before and after they log in', async () => {
  const { inviter, other } = await twoOwners()
  const email = address('existing')
  await admin.addPerson(email, 'viewer')
  const { caller, at } = inviter
  await caller.members.invite({ ...at, ...op(), email, role: 'admin' })
  const stored = await stores.db.collection(MAILS).findOne({ to: email, template: 'member_invited' })
  const mail = await openSealedMails(createMailQueue(stores.db), admin.deps.secretBox).findById(stored?._id ?? '')
  const token = /#(\S{43})/.exec(mail === null ? '' : renderMail(mail).text)?.[1] ?? ''
  await other.caller.members.remove({ ...at, ...op(), userId: inviter.session.userId, from: 'owner' })
  const browser = admin.browser()
  await browser.logIn(email)
  const answer = await browser.mutate('auth.acceptInvitation', { token, name: null, password: null })
  expect([answer.status, answer.error.message]).toEqual([409, expect.stringMatching(WHY)])
})

// Guarantee: of an acceptance and a removal at the same moment, one sees the other: nobody joins by the word of a former owner.
test('accept × remove at the same moment', async () => {
  const seen = new Set<number>()
  for (let round = 0; round < (EVERY_CASE ? 12 : 4); round += 1) {
    const { inviter, other } = await twoOwners()
    const guest = await invited(inviter)
    const { userId } = inviter.session
    const removed = { ...other.at, ...op(), userId, from: 'owner' as const }
    const [joined] = await Promise.all([
      admin.browser().mutate('auth.acceptInvitation', guest.join),
      other.caller.members.remove(removed),
    ])
    seen.add(joined.status)
    expect([200, 409]).toContain(joined.status)
    const closed = (await stores.db.collection(INVITATIONS).findOne({ _id: guest.id }))?.closed?.as
    expect([joined.status, closed]).toEqual(joined.status === 200 ? [200, 'accepted'] : [409, 'void'])
    const expected = joined.status === 200 ? [guest.email, other.session.email] : [other.session.email]
    expect(await emails(other)).toEqual(expected.sort())
    admin.advance(3_600_001)
  }
  expect(seen.size).toBeGreaterThan(0)
})

// Guarantee: the transaction of an acceptance reads the inviter itself, whatever was true when the link was looked at.
test('an acceptance that was checked before the removal is void when it is stored after it', async () => {
  const { inviter, other } = await twoOwners()
  const guest = await invited(inviter)
  const { invitations, memberships } = admin.deps
  const invitation = await invitations.findById(guest.id)
  if (invitation === null) throw new Error('no invitation')
  const { userId } = inviter.session
  const row = (action: AuditAction) => {
    const about = { actor: 'test', action, subject: userId, workspaceId: other.workspaceId, mode: null }
    return { audit: { id: op().opId, at: admin.deps.clock.now(), ...about, detail: {} } }
  }
  const member = { workspaceId: other.workspaceId, userId }
  expect(await memberships.change(member, 'owner', null, row('member.removed'))).toBe('done')
  // As if the removal had not closed it.
  await stores.db.collection(INVITATIONS).updateOne({ _id: guest.id }, { $set: { closed: null } })
  const at = admin.deps.clock.now()
  const person = { member: other.session, inviterId: userId, at }
  expect(await invitations.accept(invitation, person, row('member.joined'))).toBe('void')
  expect((await stores.db.collection(INVITATIONS).findOne({ _id: guest.id }))?.closed).toBeNull()
})
