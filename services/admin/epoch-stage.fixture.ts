import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { MAILS } from '#shared/db/mails/mail-model.ts'
import { createMailQueue } from '#shared/db/mails/mail-queue.ts'
import type { OperatorSession } from '#shared/ports/sessions.ts'
import { changeMember } from '#shared/usecases/accounts/change-member.ts'
import { changePassword } from '#shared/usecases/accounts/change-password.ts'
import { beginEnrolment, confirmEnrolment, removeAuthenticator } from '#shared/usecases/accounts/enrol-authenticator.ts'
import { endOwnSessions } from '#shared/usecases/accounts/log-in.ts'
import { resetAuthenticator, resetPassword } from '#shared/usecases/accounts/manage-operators.ts'
import { readSession } from '#shared/usecases/accounts/operator-sessions.ts'
import { completePasswordReset } from '#shared/usecases/accounts/reset-own-password.ts'
import { openSealedMails } from '#shared/usecases/mails/open-sealed-mails.ts'
import { renderMail } from '#shared/usecases/mails/render-mail.ts'
import { type AdminBrowser, type openAdmin, PASSWORD } from '#test/support/admin-http.ts'
import type { TestStores } from '#test/support/stores.ts'
import type { AdminDeps } from './assemble.ts'

const SESSION = '__Host-paymesh'
const NEXT = 'entirely other words here'
/** The parts whose calls can be interrupted: all that reads or writes a person, a session or what leads to one. */
const PARTS = ['users', 'sessions', 'resets', 'invitations', 'memberships', 'attempts', 'audits'] as const
type Admin = Awaited<ReturnType<typeof openAdmin>>
type Part = (typeof PARTS)[number]
type Methods = Record<string, (...given: readonly unknown[]) => Promise<unknown>>

/**
 * Counts the calls that procedures make to the parts, and runs something just before one of them. `deps` is the same without: what it does
 * is neither counted nor interrupted.
 */
export function interruptible(admin: Admin) {
  let calls: string[] | null = null
  let at = -1
  let interrupt: () => Promise<void> = async () => undefined
  const plain: Partial<Record<Part, object>> = {}
  for (const part of PARTS) {
    const methods = admin.deps[part] as unknown as Methods
    plain[part] = { ...methods }
    for (const [method, original] of Object.entries(methods)) {
      methods[method] = async (...given) => {
        if (calls !== null && calls.push(`${part}.${method}`) === at + 1) await interrupt()
        return await original(...given)
      }
    }
  }
  return {
    deps: { ...admin.deps, ...plain } as AdminDeps,
    /** Runs a request, and `run` before its call number `index`, from 0; returns its answer and its calls. */
    during: async <T>(request: () => Promise<T>, index: number, run: () => Promise<void>) => {
      const seen: string[] = []
      calls = seen
      at = index
      interrupt = run
      const answer = await request().finally(() => {
        calls = null
      })
      return { answer, calls: seen as readonly string[] }
    },
  }
}

/** A person with two log-ins, whose other ways in and changes can be tried. */
export interface EpochPerson {
  readonly id: string
  readonly email: string
  readonly here: AdminBrowser
  readonly there: AdminBrowser
  /** Empty without an authenticator. */
  readonly secret: string
  readonly recoveryCodes: readonly string[]
  /** A link for a new password that was mailed before everything else. */
  readonly resetToken: string
}

/** The token in the newest mail of this kind to an address. */
export async function tokenTo(stores: TestStores, admin: Admin, to: string, template: string): Promise<string> {
  const rows = stores.db.collection(MAILS).find({ to, template: template as never })
  const [stored] = await rows.sort({ createdAt: -1, _id: -1 }).limit(1).toArray()
  const mail = await openSealedMails(createMailQueue(stores.db), admin.deps.secretBox).findById(stored?._id ?? '')
  return /#(\S{43})/.exec(mail === null ? '' : renderMail(mail).text)?.[1] ?? ''
}

let people = 0

/** A member of one workspace, logged in twice. */
export async function epochPerson(stores: TestStores, admin: Admin, hasFactor: boolean): Promise<EpochPerson> {
  people += 1
  // What one source asked before is forgotten: no case meets the limit of another one.
  admin.advance(70 * 60_000)
  const email = `epoch${people}@example.com`
  const { id } = await admin.addPerson(email, 'viewer')
  const [here, there] = [admin.browser(), admin.browser()]
  await here.logIn(email)
  let secret = ''
  let recoveryCodes: readonly string[] = []
  if (hasFactor) {
    secret = (await here.mutate('auth.beginEnrolment', { password: PASSWORD, code: null })).data.secret
    recoveryCodes = (await here.mutate('auth.confirmEnrolment', { code: await admin.codeOf(secret) })).data
      .recoveryCodes
  }
  await there.logIn(email)
  if (hasFactor) await there.mutate('auth.giveRecoveryCode', { code: recoveryCodes[0] })
  for (const browser of [here, there]) expect((await browser.query('auth.state')).data).toEqual({ state: 'in' })
  await admin.browser().mutate('auth.requestReset', { email })
  const resetToken = await tokenTo(stores, admin, email, 'password_reset_requested')
  return { id, email, here, there, secret, recoveryCodes, resetToken }
}

const ORIGIN = { ip: '203.0.113.9', group: '203.0.113.9', userAgent: 'elsewhere', device: null }
const action = (deps: AdminDeps) => ({ opId: deps.random.uuid(), actor: 'test', reason: null })

/** The session of a browser, which must be logged in. */
async function sessionOf(deps: AdminDeps, browser: AdminBrowser): Promise<OperatorSession> {
  const session = await readSession(deps, browser.jar.get(SESSION) ?? '', { isPerson: true })
  if (session === null) throw new Error('this browser is logged out')
  return session
}

/** What ends a session of a person. Each happens beside the request that it interrupts; false: there was nothing to change. */
export interface EpochEvent {
  /** Only a person with an authenticator meets it. */
  readonly needsFactor?: true
  /** It ends the log-in of the calling browser, hence needs one. */
  readonly needsLogin?: true
  /** Somebody does it in another log-in of the person, or with a link that was mailed before. */
  readonly needsElsewhere?: true
  run(admin: Admin, deps: AdminDeps, person: EpochPerson, caller: AdminBrowser): Promise<unknown>
}

/** Every way in which a session ends before its time, by the person elsewhere, an operator or an owner. */
export const EPOCH_EVENTS: Readonly<Record<string, EpochEvent>> = {
  'factor enabled': {
    needsElsewhere: true,
    run: async (admin, deps, { there, recoveryCodes }) => {
      const who = await sessionOf(deps, there)
      const proof = { password: PASSWORD, code: recoveryCodes[1] ?? null, origin: ORIGIN }
      const { secret } = await beginEnrolment(deps, who, proof)
      await confirmEnrolment(deps, who, { code: await admin.codeOf(secret), origin: ORIGIN })
    },
  },
  'factor reset': {
    needsFactor: true,
    run: async (_admin, deps, { email }) => await resetAuthenticator(deps, { email, actor: 'test' }),
  },
  'password changed': {
    needsElsewhere: true,
    run: async (_admin, deps, { there }) =>
      await changePassword(deps, await sessionOf(deps, there), { password: PASSWORD, next: NEXT, origin: ORIGIN }),
  },
  'logged out everywhere': {
    needsElsewhere: true,
    run: async (_admin, deps, { there }) => await endOwnSessions(deps, await sessionOf(deps, there), null),
  },
  removed: {
    run: async ({ workspaceId }, deps, { id: userId }) =>
      await changeMember(deps, { workspaceId, userId, from: 'viewer', to: null, action: action(deps) }),
  },
  'log-in ended': {
    needsLogin: true,
    needsElsewhere: true,
    run: async (_admin, deps, _person, caller) => {
      const id = createHash('sha256')
        .update(caller.jar.get(SESSION) ?? '')
        .digest('hex')
      const found = await deps.sessions.find(id)
      if (found === null) throw new Error('this browser is logged out')
      await deps.sessions.end(found.session.userId, found.session.loginId, null)
    },
  },
  'factor removed': {
    needsFactor: true,
    needsElsewhere: true,
    run: async (_admin, deps, { there }) => await removeAuthenticator(deps, await sessionOf(deps, there), ORIGIN),
  },
  'password reset by an operator': {
    run: async (_admin, deps, { email }) => await resetPassword(deps, { email, password: NEXT, actor: 'test' }),
  },
  'password reset by mail': {
    needsElsewhere: true,
    run: async (_admin, deps, { resetToken }) =>
      await completePasswordReset(deps, { token: resetToken, password: NEXT, origin: ORIGIN }),
  },
}
