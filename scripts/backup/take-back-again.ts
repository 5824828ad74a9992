import { z } from 'zod'
import { parseJson } from '#shared/contracts/parse-json.ts'
import { INVITATIONS, MEMBERSHIPS, USERS } from '#shared/db/accounts/operator-models.ts'
import { isRecorded } from '#shared/db/audit/audited.ts'
import type { CollectionModel } from '#shared/db/connection/collection-model.ts'
import type { Database } from '#shared/db/connection/connect.ts'
import { createRepositories, type Repositories } from '#shared/db/create-repositories.ts'
import { WEBHOOK_ENDPOINTS } from '#shared/db/endpoints/endpoint-model.ts'
import { INVOICES } from '#shared/db/invoices/invoice-model.ts'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { CustomerEraser } from '#shared/db/maintenance/customer-erasure.ts'
import { PAYMENT_LINKS } from '#shared/db/payment-links/payment-link-model.ts'
import { REFUNDS } from '#shared/db/refunds/refund-model.ts'
import { createTakenBackChanges } from '#shared/db/restore/taken-back-changes.ts'
import { WALLETS } from '#shared/db/wallets/wallet-models.ts'
import { API_KEYS } from '#shared/db/workspaces/api-key-model.ts'
import { WORKSPACES } from '#shared/db/workspaces/workspace-model.ts'
import { MODES, type Mode } from '#shared/domain/enumerations.ts'
import { subjectOf } from '#shared/domain/marks/mark-fields.ts'
import { type AuditAction, type TakenBackAction, takesBack } from '#shared/domain/marks/taken-back.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import type { Mark } from '#shared/ports/marks.ts'
import { endpointSecretContext, opens } from '#shared/ports/secrets.ts'
import type { StoredAnswer } from '#shared/ports/stored-answer.ts'
import { ROLES } from '#shared/ports/users.ts'
import { accountMail } from '#shared/usecases/accounts/account-audit.ts'
import { newEndpointSecret } from '#shared/usecases/endpoints/manage-endpoints.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import { DELIVERY_LIFE_MS, eraseRecorded } from '#shared/usecases/maintenance/erase-customer.ts'
import type { Uses } from '#shared/usecases/uses.ts'

import { ownersOfWorkspace } from '#shared/usecases/workspaces/owners-of-workspace.ts'

/** What became of one act that took something back after the archive was made. */
export interface TakenBackAgain {
  readonly action: AuditAction
  readonly subject: string
  readonly outcome: 'applied' | 'nothing to change' | 'not in the archive'
  /** What a person has to do about it; null = nothing. */
  readonly advice: string | null
}

export type TakeBackAgainDeps = Omit<TakenBackDeps, 'repositories'> & Uses<'logger'>

/** The audit rows that marks hold of what was taken back, oldest first: numbers of several lives of a database overlap. Throws for a mark whose row cannot be read. */
export function takenBackRows(marks: ReadonlyMap<string, Mark>): readonly AuditRecord[] {
  return [...marks.values()]
    .filter(({ field }) => subjectOf(field)?.kind === 'taken-back')
    .toSorted((one, other) => one.value - other.value)
    .map(({ field, detail }) => {
      const row = takenBackRow.safeParse(parseJson(detail ?? ''))
      if (!row.success || row.data.id !== subjectOf(field)?.id) {
        throw new Error(`the mark ${field} is signed and cannot be read: use the version that wrote it`, {
          cause: row.error,
        })
      }
      return row.data
    })
    .toSorted((one, other) => one.at - other.at)
}

/**
 * Takes back again, in a restored database, what these audit rows took back, in their order; rows that its log has are skipped. What an archive cannot
 * repeat is made safe: a password or factor that was replaced is void, an endpoint whose secret was replaced is paused. Each change is stored
 * with its row, which says `applied_again`. Repeating it changes nothing. Throws for a row without what its act needs.
 */
export async function takeBackAgain(
  deps: TakeBackAgainDeps,
  rows: readonly AuditRecord[],
): Promise<readonly TakenBackAgain[]> {
  const parts = { ...deps, repositories: createRepositories(deps.db, deps) }
  const results: TakenBackAgain[] = []
  for (const row of rows) {
    const { id, action, subject } = row
    if (!takesBack(action) || (await isRecorded(deps.db, id))) continue
    const { isHeld, again, advice, adviceIfMissing } = TAKEN_BACK_ACTS[action]
    if (!(await isHeld(deps.db, row))) {
      results.push({ action, subject, outcome: 'not in the archive', advice: adviceIfMissing?.(row) ?? null })
      continue
    }
    await again(parts, { ...row, detail: { ...row.detail, applied_again: true } })
    const isApplied = await isRecorded(deps.db, id)
    results.push({
      action,
      subject,
      outcome: isApplied ? 'applied' : 'nothing to change',
      advice: isApplied ? (advice?.(row) ?? null) : null,
    })
  }
  return results
}

/** What taking back again works with: the restored database and its repositories. */
type TakenBackDeps = Uses<'secretBox' | 'passwords' | 'clock' | 'random'> & {
  readonly db: Database
  readonly repositories: Repositories
}

/** One act, as a restored database repeats it. */
interface TakenBackAct {
  /** Whether the archive has what the act was about. */
  readonly isHeld: (db: Database, row: AuditRecord) => Promise<boolean>
  /** Repeats the act, or makes safe what cannot be repeated, in one transaction with `row`. Changes nothing where nothing is left to change. */
  readonly again: (deps: TakenBackDeps, row: AuditRecord) => Promise<unknown>
  /** What a person has to do about it afterwards; absent = nothing. */
  readonly advice?: (row: AuditRecord) => string
  /** The same where the archive lacks what the act was about. */
  readonly adviceIfMissing?: (row: AuditRecord) => string
}

type DocumentModel = CollectionModel<{ _id: string }>

const held =
  (of: unknown, idOf = (row: AuditRecord): string => row.subject): TakenBackAct['isHeld'] =>
  async (db, row) =>
    (await db.collection(of as DocumentModel).findOne({ _id: idOf(row) }, { projection: { _id: 1 } })) !== null

const text = (row: AuditRecord, name: string): string =>
  z.string().parse(row.detail[name], { error: () => `${row.id} names no ${name}` })

/** The workspace and mode of a row about data of a merchant. Throws for a row without them. */
function scopeOf({ id, workspaceId, mode }: AuditRecord): { readonly workspaceId: string; readonly mode: Mode } {
  if (workspaceId === null || mode === null) throw new Error(`audit row ${id} names no workspace or mode`)
  return { workspaceId, mode }
}

/** The person whom a row about an account concerns. */
const personOf = ({ actor, detail: { email } }: AuditRecord): string => String(email ?? actor.replace(/^user:/, ''))

/** Nobody logs in with what the archive has; the person is mailed what to do. */
const voidLogIn = (factor: boolean): TakenBackAct => ({
  isHeld: held(USERS),
  again: async (deps, row) => {
    const secret = Buffer.from(deps.random.bytes(32)).toString('base64')
    const passwordHash = await deps.passwords.hash(secret)
    const what = factor
      ? 'The installation was restored from a back-up that is older than your authenticator. Choose a new password with “Forgot password?”, then set up two-factor authentication again.'
      : 'The installation was restored from a back-up that is older than your password. Choose a new one with “Forgot password?”.'
    const mails = await personMail(deps, row, what)
    return await createTakenBackChanges(deps.db).voidLogIn(row.subject, { passwordHash, factor }, { audit: row, mails })
  },
  advice: (row) =>
    factor
      ? `${personOf(row)} must choose a new password and set up two-factor authentication again`
      : `${personOf(row)} must choose a new password (“Forgot password?”, or \`paymesh operator reset-password\`)`,
})

const voidRecoveryCodes: TakenBackAct = {
  isHeld: held(USERS),
  again: async (deps, row) => {
    const what =
      'The installation was restored from a back-up with former recovery codes. None of yours works: create new ones under Account security.'
    const mails = await personMail(deps, row, what)
    return await createTakenBackChanges(deps.db).voidRecoveryCodes(row.subject, { audit: row, mails })
  },
  advice: (row) => `${personOf(row)} must create new recovery codes`,
}

async function personMail(deps: TakenBackDeps, row: AuditRecord, what: string): Promise<readonly MailRecord[]> {
  const user = await deps.repositories.users.findById(row.subject)
  if (user === null) return []
  const mail = accountMail(deps, 'account_changed', user.email, {
    email: user.email,
    time: mailTime(deps.clock.now()),
    what,
  })
  return [{ ...mail, id: `${row.id}:again` }]
}

const lowerRole: TakenBackAct = {
  isHeld: async (db, { workspaceId, subject, detail }) => {
    const id = { workspaceId: workspaceId ?? '', userId: subject }
    if ((await db.collection(MEMBERSHIPS).findOne(id)) !== null) return true
    const open = { workspaceId: workspaceId ?? '', email: String(detail['email']), closed: null }
    return (await db.collection(INVITATIONS).findOne(open)) !== null
  },
  again: async ({ db }, row) => {
    const [from, given] = [z.enum(ROLES).parse(row.detail['from']), z.enum([...ROLES, 'none']).parse(row.detail['to'])]
    const to = given === 'none' ? null : given
    if (to !== null && ROLES.indexOf(to) <= ROLES.indexOf(from)) return false
    const member = { workspaceId: row.workspaceId ?? '', userId: row.subject, email: text(row, 'email'), to }
    return await createTakenBackChanges(db).lowerRole(member, row)
  },
}

const disableWallet: TakenBackAct = {
  isHeld: held(WALLETS),
  again: ({ repositories }, row) => repositories.wallets.setDisabled(row.subject, row.at, { audit: row }),
}

async function replaceSecrets({ db, random, secretBox, repositories }: TakenBackDeps, row: AuditRecord): Promise<void> {
  const endpoint = await repositories.endpoints.findById(row.subject)
  if (endpoint === null) return
  const { id, url, workspaceId } = endpoint
  const workspace = await repositories.workspaces.findById(workspaceId)
  const data = {
    workspace: workspace?.name ?? '',
    headline: 'A webhook endpoint was paused',
    sentence: `The installation was restored from a back-up that is older than the secret of the webhook endpoint ${id} (${url.split(/[?#]/, 1)[0]}). It is paused with a new secret. Rotate the secret, give it to your receiver, then resume the endpoint; events of the time between can be sent again.`,
    ...{ actor: 'Restore of a back-up', from: '-', time: mailTime(row.at), reason: '-' },
  }
  const mails = (await ownersOfWorkspace(repositories, workspaceId)).map((to, place): MailRecord => {
    return { id: `${row.id}:again:${place}`, workspaceId, template: 'owner_notice', to, data, createdAt: row.at }
  })
  const sealed = secretBox.seal(newEndpointSecret(random), endpointSecretContext(id))
  await createTakenBackChanges(db).replaceSecrets(id, sealed, { audit: row, mails })
  await repositories.deliveries.hold(id, null)
}

const settings = z.object({
  status: z.exactOptional(z.enum(['active', 'restricted', 'suspended'])),
  ownerEmail: z.exactOptional(z.string()),
  requiresSecondFactor: z.exactOptional(z.boolean().nullable()),
  largeSumUsd: z.exactOptional(z.number().nullable()),
  invoicesPerMonth: z.exactOptional(z.number().nullable()),
  paymentLinks: z.exactOptional(z.number().nullable()),
  webhookEndpoints: z.exactOptional(z.number().nullable()),
})

/** Only what gives or takes rights; every other setting is as the archive has it. */
async function changeSettings({ repositories: { workspaces } }: TakenBackDeps, row: AuditRecord): Promise<unknown> {
  const workspace = await workspaces.findById(row.subject)
  const { status, ownerEmail, requiresSecondFactor, largeSumUsd, ...limits } = settings.parse(row.detail)
  if (workspace === null) return null
  const policy = Object.entries({ requiresSecondFactor, largeSumUsd }).filter(([, value]) => value != null)
  const next = {
    status: status ?? workspace.status,
    ownerEmail: ownerEmail ?? workspace.ownerEmail,
    limits: { ...workspace.limits, ...limits },
    policy: { ...workspace.policy, ...Object.fromEntries(policy) },
  }
  const names = ['status', 'ownerEmail', 'limits', 'policy'] as const
  const isSame = names.every((name) => JSON.stringify(next[name]) === JSON.stringify(workspace[name]))
  return isSame ? null : await workspaces.update(row.subject, next, row)
}

/** With `--accept-unreadable`, a stored response may be sealed under a lost key: nobody reads the customer in it. */
function readableEraser({ repositories: { eraser }, secretBox }: TakenBackDeps): CustomerEraser {
  const isReadable = ({ body, scope }: StoredAnswer): boolean => opens(secretBox, body, scope)
  return { ...eraser, storedAnswers: async (scope) => (await eraser.storedAnswers(scope)).filter(isReadable) }
}

const refundId = (row: AuditRecord): string => text(row, 'refund')

/** How a restored database repeats each act that took something back. */
const TAKEN_BACK_ACTS: Readonly<Record<TakenBackAction, TakenBackAct>> = {
  'api_key.revoked': {
    isHeld: held(API_KEYS),
    again: ({ repositories }, row) => repositories.workspaceAdmin.revokeKey(row.subject, row.at, row),
  },
  'auth.authenticator_removed': voidLogIn(true),
  'auth.authenticator_set': voidLogIn(true),
  'auth.password_changed': voidLogIn(false),
  'auth.password_reset': voidLogIn(false),
  'auth.recovery_code_used': voidRecoveryCodes,
  'auth.recovery_codes_renewed': voidRecoveryCodes,
  'endpoint.deleted': {
    isHeld: held(WEBHOOK_ENDPOINTS),
    again: async ({ repositories: { operations, deliveries } }, row) => {
      await operations.remove(row.subject, row)
      await deliveries.purge(row.subject, null)
    },
  },
  'endpoint.disabled': {
    isHeld: held(WEBHOOK_ENDPOINTS),
    again: async ({ repositories: { operations, deliveries } }, row) => {
      await operations.setStatus(row.subject, 'disabled', row.at, row)
      await deliveries.hold(row.subject, null)
    },
  },
  'endpoint.restricted_to_live': {
    isHeld: held(WEBHOOK_ENDPOINTS),
    again: async ({ repositories: { operations, deliveries } }, row) => {
      await operations.restrictToLive(row.subject, row)
      await deliveries.purge(row.subject, 'test')
    },
  },
  'endpoint.secret_rotated': {
    isHeld: held(WEBHOOK_ENDPOINTS),
    again: replaceSecrets,
    advice: ({ subject }) =>
      `webhook endpoint ${subject} is paused: rotate its secret, give it to the receiver, then resume it`,
  },
  'invoice.customer_erased': {
    isHeld: held(INVOICES),
    again: async (deps, row) => {
      const now = deps.clock.now()
      // Nothing is sent until the restore is confirmed: no body is between two tries of its delivery.
      const times = { madeBefore: now + 1, sweepAt: now + DELIVERY_LIFE_MS }
      const eraser = readableEraser(deps)
      await eraseRecorded({ ...deps, eraser }, { ...row, ...scopeOf(row) }, times)
    },
  },
  'member.invitation_withdrawn': {
    isHeld: held(INVITATIONS),
    again: ({ repositories }, row) => repositories.invitations.withdraw(row.subject, row.at, { audit: row }),
  },
  'member.removed': lowerRole,
  'member.role_changed': lowerRole,
  'operator.authenticator_reset': voidLogIn(true),
  'operator.password_reset': voidLogIn(false),
  'payment_link.deactivated': {
    isHeld: held(PAYMENT_LINKS),
    again: ({ repositories }, row) => {
      const { workspaceId, mode } = scopeOf(row)
      return repositories.paymentLinks.deactivate(workspaceId, mode, row.subject, row.at, row)
    },
  },
  'refund.sent': {
    isHeld: held(REFUNDS, refundId),
    again: ({ repositories }, row) => {
      // Its rate of that time is in no archive.
      const sent = { txHash: text(row, 'transaction'), at: row.at, by: row.actor, market: null }
      return repositories.refunds.noteSent(refundId(row), sent, row)
    },
    adviceIfMissing: ({ subject }) =>
      `a refund of invoice ${subject} was sent, and the archive lacks it: do not send it again`,
  },
  'refund.withdrawn': {
    isHeld: held(REFUNDS, refundId),
    again: ({ repositories }, row) => repositories.refunds.withdraw(refundId(row), row),
  },
  'wallet.cancelled': disableWallet,
  'wallet.disabled': disableWallet,
  'wallet.displaced': {
    isHeld: async (db, row) => {
      const ids = text(row, 'wallets').split(' ')
      return (await db.collection(WALLETS).findOne({ _id: { $in: ids } })) !== null
    },
    again: ({ db }, row) => createTakenBackChanges(db).displace(text(row, 'wallets').split(' '), row),
    advice: ({ subject }) => `workspace ${subject} lost wallets to a proof of control: they are disabled`,
  },
  'workspace.settings_changed': { isHeld: held(WORKSPACES), again: changeSettings },
}

const detailSchema = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))

/** An audit row about something that was taken back, as a mark holds it. */
const takenBackRow = z.strictObject({
  id: z.string(),
  at: z.number(),
  actor: z.string(),
  action: z.custom<TakenBackAction>((value) => typeof value === 'string' && Object.hasOwn(TAKEN_BACK_ACTS, value)),
  subject: z.string(),
  workspaceId: z.string().nullable(),
  mode: z.enum(MODES).nullable(),
  detail: detailSchema,
})
