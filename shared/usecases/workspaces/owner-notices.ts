import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import type { AuditRecord } from '#shared/ports/audit.ts'
import { mailTime } from '#shared/usecases/mails/mail-time.ts'
import type { Uses } from '#shared/usecases/uses.ts'

/** Dependencies of mails to owners. */
export type OwnerNoticeDeps = Uses<'workspaces'> & {
  /** E-mail addresses of all owners of a workspace. */
  ownersOf(workspaceId: string): Promise<readonly string[]>
}

/**
 * The mails about one change: to every owner of its workspace before the change, and to the affected person. Their ids
 * are derived from the id of the audit row, so that a repetition has the same ones. `from` is the address of the request.
 */
export async function ownerNotices(
  deps: OwnerNoticeDeps,
  { audit, from, to = [] }: { readonly audit: AuditRecord; readonly from: string; readonly to?: readonly string[] },
): Promise<readonly MailRecord[]> {
  const workspaceId = audit.workspaceId ?? ''
  const [workspace, owners] = await Promise.all([deps.workspaces.findById(workspaceId), deps.ownersOf(workspaceId)])
  const { headline, sentence } = describeChange(audit)
  const data = {
    ...{ workspace: workspace?.name ?? 'your workspace', headline, sentence, from },
    actor: audit.actor.replace(/^user:/, ''),
    time: mailTime(audit.at),
    reason: String(audit.detail['reason'] ?? '-'),
  }
  const everybody = [...new Set([...owners, ...to])]
  return everybody.map((address, place) => {
    const id = `${audit.id}:owner:${place}`
    return { id, workspaceId, template: 'owner_notice', to: address, data, createdAt: audit.at }
  })
}

/** Description of a change: a headline to precede "at WORKSPACE", and a sentence with the details. */
interface ChangeWords {
  readonly headline: string
  readonly sentence: string
}

type Detail = (name: string) => string
type Words = (detail: Detail, audit: AuditRecord) => ChangeWords

const SETTING_LABELS: Readonly<Record<string, string>> = {
  name: 'name',
  supportContact: 'support contact',
  brandColour: 'colour of payers’ pages',
  logo: 'logo (SHA-256)',
  requiresSecondFactor: 'two-factor authentication required',
  digestHour: 'hour of the daily exceptions email (UTC)',
  toleranceBps: 'accepted underpayment (hundredths of a percent)',
  lateGraceMs: 'time limit for late payments (milliseconds)',
  lateDriftBps: 'price change allowed for late payments (hundredths of a percent)',
  depositBps: 'smallest deposit that keeps the price of the rest (hundredths of a percent)',
  newLifeMs: 'expiry of invoices without a coin (milliseconds)',
  quoteMs: 'price lock (milliseconds)',
  spreadBps: 'spread (hundredths of a percent)',
  quarantineMs: 'exact-amount period of reused pool addresses (milliseconds)',
  reservePercent: 'reserve for your own integrations (percent)',
  arsSeries: 'ARS exchange rate',
  reportingCurrency: 'reporting currency',
  timeZone: 'time zone of reports',
  status: 'status',
  ownerEmail: 'email address for alerts',
  invoicesPerMonth: 'invoices per month',
  paymentLinks: 'active payment links',
  webhookEndpoints: 'webhook endpoints',
  largeSumUsd: 'underpayment or refund that requires a two-factor code (US dollars)',
}

const key =
  (made: string): Words =>
  (detail) => ({
    headline: `An API key was ${made}`,
    sentence: `The API key ${detail('name')} that ends in ${detail('last4')} was ${made}. Permissions: ${detail('scopes')}.`,
  })
const endpoint =
  (done: string, more: (detail: Detail) => string): Words =>
  (detail, { subject }) => ({
    headline: `A webhook endpoint was ${done}`,
    sentence: `The webhook endpoint ${subject} was ${done}${more(detail)}.`,
  })
const nothing = () => ''
const refundGoal = ({ detail: { address = null } }: AuditRecord) =>
  address === null ? 'to an address that the customer enters' : `to ${address}`

const WORDS: Readonly<Record<string, Words>> = {
  'workspace.settings_changed': (_detail, { detail }) => ({
    headline: 'Settings were changed',
    sentence: `Changed: ${Object.entries(detail).flatMap(settingText).join('; ')}.`,
  }),
  'member.joined': (detail) => ({
    headline: 'A member was added',
    sentence: `${detail('email')} was added as ${detail('role')}.`,
  }),
  'member.invited': (detail) => ({
    headline: 'A team member was invited',
    sentence: `${detail('email')} was invited as ${detail('role')}.`,
  }),
  'member.invitation_withdrawn': (detail) => ({
    headline: 'An invitation was withdrawn',
    sentence: `The invitation of ${detail('email')} was withdrawn.`,
  }),
  'member.role_changed': (detail) => ({
    headline: 'A role was changed',
    sentence: `The role of ${detail('email')} changed from ${detail('from')} to ${detail('to')}.`,
  }),
  'member.removed': (detail) => ({
    headline: 'A member was removed',
    sentence: `${detail('email')} (${detail('from')}) was removed.`,
  }),
  'api_key.created': key('created'),
  'api_key.revoked': key('revoked'),
  'endpoint.created': endpoint(
    'added',
    (detail) => `: ${detail('url').replace(/[?#].*/s, '')} receives ${detail('events')}`,
  ),
  'endpoint.updated': endpoint('changed', (detail) => `: it receives ${detail('events')}`),
  'endpoint.deleted': endpoint('deleted', nothing),
  'endpoint.enabled': endpoint('resumed', nothing),
  'endpoint.disabled': endpoint('paused', nothing),
  'endpoint.secret_rotated': endpoint('given a new secret', nothing),
  'invoice.funds_accepted': (detail, { detail: { is_stated: isStated } }) =>
    isStated === true
      ? {
          headline: 'Money was accepted at a stated value',
          sentence: `Invoice ${detail('invoice_number')} was accepted as paid with money that has no price in its coin: a person stated its value. Nothing else proves it, so up to ${detail('missing')} may be missing.`,
        }
      : {
          headline: 'An underpayment was accepted',
          sentence: `Invoice ${detail('invoice_number')} was accepted as paid although ${detail('missing')} is missing or not confirmed.`,
        },
  'refund.requested': (detail, audit) => ({
    headline: 'A refund was prepared',
    sentence: `A refund of ${detail('amount')} ${detail('symbol')} of invoice ${detail('invoice_number')} was prepared, ${refundGoal(audit)}. Nothing was sent by Paymesh.`,
  }),
}

/** Describes a change, by the action of its audit row. Throws a TypeError for an action without a description. */
function describeChange(audit: AuditRecord): ChangeWords {
  const words = WORDS[audit.action]
  if (words === undefined) throw new TypeError(`${audit.action} has no words for a mail`)
  return words((name) => String(audit.detail[name] ?? '-'), audit)
}

function settingText([name, value]: [string, unknown]): readonly string[] {
  if (name === 'changed' || name === 'reason') return []
  const asset = /^confirmations\.(.+)$/.exec(name)?.[1]
  const label = asset === undefined ? (SETTING_LABELS[name] ?? name) : `confirmations of ${asset}`
  return [`${label}: ${value === null || value === '' ? 'none' : String(value)}`]
}
