import type { AuditRecord } from '#shared/ports/audit.ts'

/** A change in words: a headline that stands before "at WORKSPACE", and a sentence with what changed. */
export interface ChangeWords {
  readonly headline: string
  readonly sentence: string
}

type Detail = (name: string) => string
type Words = (detail: Detail, audit: AuditRecord) => ChangeWords

const SETTING_WORDS: Readonly<Record<string, string>> = {
  name: 'name',
  supportContact: 'contact for payers',
  requiresSecondFactor: 'members must have an authenticator',
  digestHour: 'hour of the daily mail (UTC)',
  toleranceBps: 'missing part that counts as paid (hundredths of a percent)',
  lateGraceMs: 'grace for late payments (milliseconds)',
  lateDriftBps: 'rate drift allowed for late payments (hundredths of a percent)',
  newLifeMs: 'life of an invoice without a coin (milliseconds)',
  quoteMs: 'length of a quote (milliseconds)',
  spreadBps: 'spread (hundredths of a percent)',
  quarantineMs: 'rest of a used address (milliseconds)',
  reservePercent: 'reserve for your own programs (percent)',
  arsSeries: 'Argentine rate',
  status: 'status',
  ownerEmail: 'mail address of the owner',
  invoicesPerMonth: 'invoices in a month',
  paymentLinks: 'active payment links',
  webhookEndpoints: 'webhook endpoints',
  shortfallStepUpUsd: 'shortfall that needs an authenticator (US dollars)',
}

const key =
  (made: string): Words =>
  (detail) => ({
    headline: `An API key was ${made}`,
    sentence: `The API key ${detail('name')} that ends in ${detail('last4')} was ${made}. Its rights: ${detail('scopes')}.`,
  })
const endpoint =
  (done: string, more: (detail: Detail) => string): Words =>
  (detail, { subject }) => ({
    headline: `A webhook endpoint was ${done}`,
    sentence: `The webhook endpoint ${subject} was ${done}${more(detail)}.`,
  })
const nothing = () => ''

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
    headline: 'Somebody was invited',
    sentence: `${detail('email')} was invited as ${detail('role')}.`,
  }),
  'member.invitation_withdrawn': (detail) => ({
    headline: 'An invitation was withdrawn',
    sentence: `The invitation of ${detail('email')} was withdrawn.`,
  }),
  'member.role_changed': (detail) => ({
    headline: 'A role was changed',
    sentence: `${detail('email')} was ${detail('from')} and is ${detail('to')} now.`,
  }),
  'member.removed': (detail) => ({
    headline: 'A member was removed',
    sentence: `${detail('email')}, who was ${detail('from')}, was removed.`,
  }),
  'api_key.created': key('created'),
  'api_key.revoked': key('revoked'),
  'endpoint.created': endpoint(
    'added',
    (detail) => `: ${detail('url').replace(/[?#].*$/, '')} receives ${detail('events')}`,
  ),
  'endpoint.updated': endpoint('changed', (detail) => `: it receives ${detail('events')}`),
  'endpoint.deleted': endpoint('deleted', nothing),
  'endpoint.enabled': endpoint('enabled', nothing),
  'endpoint.disabled': endpoint('disabled', nothing),
  'endpoint.secret_rotated': endpoint('given a new secret', nothing),
  'invoice.funds_accepted': (detail) => ({
    headline: 'A shortfall was accepted',
    sentence: `Invoice ${detail('invoice_number')} was accepted as paid although ${detail('missing')} is missing or not proved.`,
  }),
}

/** The words of a change, by the action of its audit row. Throws a TypeError for an action that has none. */
export function describeChange(audit: AuditRecord): ChangeWords {
  const words = WORDS[audit.action]
  if (words === undefined) throw new TypeError(`${audit.action} has no words for a mail`)
  return words((name) => String(audit.detail[name] ?? '-'), audit)
}

function settingText([name, value]: [string, unknown]): readonly string[] {
  if (name === 'changed' || name === 'reason') return []
  const asset = /^confirmations\.(.+)$/.exec(name)?.[1]
  const label = asset === undefined ? (SETTING_WORDS[name] ?? name) : `confirmations of ${asset}`
  return [`${label}: ${value === null || value === '' ? 'none' : String(value)}`]
}
