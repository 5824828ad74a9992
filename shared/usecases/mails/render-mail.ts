import { type Html, html } from '#shared/contracts/html.ts'
import type { MailRecord } from '#shared/ports/mails.ts'
import { ACCOUNT_MAILS } from './account-mails.ts'
import type { Content, Fact } from './mail-content.ts'

/** What a mail says, in both forms. */
export interface RenderedMail {
  /** One line. */
  readonly subject: string
  readonly text: string
  readonly html: string
}

const TEMPLATES: Readonly<Record<MailRecord['template'], (fact: Fact) => Content>> = {
  ...ACCOUNT_MAILS,
  payment_reorged: (fact) => ({
    subject: `A payment of invoice ${fact('invoice_number')} left the blockchain`,
    paragraphs: [
      `A payment that was counted for invoice ${fact('invoice_number')} is no longer on the chain: its block was replaced by another.`,
      'The invoice keeps its status, because goods may have been handed over. If the payer’s money comes back in another block, it counts again by itself.',
    ],
    facts: [
      ['Invoice', fact('invoice_id')],
      ['Payment', fact('payment_key')],
      ['Mode', fact('mode')],
    ],
    advice: 'Do not ship until the payment is back. `paymesh invoice explain ID` shows where it stands.',
  }),
  endpoint_failing: (fact) => ({
    subject: 'A webhook endpoint fails',
    paragraphs: [
      'Three events in a row could not be delivered to one of your webhook endpoints. Each was tried nine times over two days; they will not be tried again by themselves.',
      'New events are still sent. This is the only mail about this streak; a success ends it.',
    ],
    facts: [
      ['Endpoint', fact('endpointId')],
      ['URL', withoutQuery(fact('url'))],
      ['First lost delivery', fact('firstDeliveryId')],
    ],
    advice:
      'Repair the receiver, try it with `paymesh endpoint test ID`, then fetch what it missed with `paymesh delivery recover ID --since TIME`.',
  }),
  shared_key_material: (fact) => ({
    subject: 'A receiving key is used by more than one workspace',
    paragraphs: [
      `A key for ${fact('family')} addresses that one of your wallets uses was added in another workspace of this installation as well.`,
      'Each address is still given to one invoice only, whichever workspace it belongs to, and no payment is mixed up. But both owners can see the money that arrives.',
    ],
    facts: [
      ['Fingerprint', fact('fingerprint')],
      ['Mode', fact('mode')],
    ],
    advice: 'If you do not know the other workspace, add a new key and disable the old wallet.',
  }),
  addresses_low: (fact) => ({
    subject: `Few ${fact('family')} addresses are left`,
    paragraphs: [
      `Only ${fact('free')} of ${fact('total')} ${fact('family')} addresses of your pool are free. When none is left, its assets cannot be offered to payers.`,
    ],
    facts: [
      ['Free', fact('free')],
      ['All', fact('total')],
      ['Mode', fact('mode')],
    ],
    advice: 'Add addresses to the wallet with `paymesh wallet add`.',
  }),
  exceptions_digest: (fact) => ({
    subject: `${fact('count')} open exceptions at ${fact('workspace')}`,
    paragraphs: [
      `${fact('count')} entries of the inbox of ${fact('workspace')} wait for a person. Money in them is safe in your wallets; what it counts for is for you to decide.`,
    ],
    facts: [
      ['Open', fact('count')],
      ['What', fact('kinds')],
    ],
    advice: 'Open Exceptions in the dashboard. The oldest come first.',
  }),
  wallet_changed: (fact) => ({
    subject: `A live wallet of ${fact('workspace')} was ${fact('change')}`,
    paragraphs: [
      `A wallet that ${fact('workspace')} receives real money with was ${fact('change')} by ${fact('actor')}. Every owner gets this mail.`,
    ],
    facts: [
      ['Takes effect', fact('effective')],
      ['Family', fact('family')],
      ['Kind', fact('kind')],
      ['First address', fact('first_address')],
      ['Wallet', fact('wallet')],
    ],
    advice:
      'If nobody of you did this, disable the wallet in the dashboard before it takes effect, and change your passwords.',
  }),
  address_displaced: (fact) => ({
    subject: `${fact('workspace')} no longer receives on ${fact('what')}`,
    paragraphs: [
      `Another workspace of this installation proved by a signed message that it controls ${fact('what')} that a live wallet of ${fact('workspace')} used. Nobody of ${fact('workspace')} had proved that since.`,
      'New invoices do not use these addresses. Invoices that show one of them keep it until they end, but money that comes to it now goes to the inbox of the workspace that proved it, and pays no invoice of yours.',
    ],
    facts: [
      ['Family', fact('family')],
      ['Addresses', fact('addresses')],
    ],
    advice:
      'If you control them, prove it in the dashboard under Wallets. If not, add a wallet of your own and cancel open invoices that show these addresses.',
  }),
  address_proved: (fact) => ({
    subject: `${fact('workspace')} proved that it controls ${fact('what')}`,
    paragraphs: [
      `${fact('workspace')} proved by a signed message that it controls ${fact('what')}. Another workspace of this installation had been receiving there and no longer does.`,
      'Invoices of that workspace that are still open may show these addresses until they end. Money that comes to them is in your wallet and in your inbox: you decide what becomes of it.',
    ],
    facts: [
      ['Family', fact('family')],
      ['Addresses', fact('addresses')],
    ],
    advice:
      'If none of you signed such a message, somebody else can sign with the keys of this wallet: move your money.',
  }),
}

const REASON =
  'You get this mail because it was given as the owner’s address of a workspace on this Paymesh installation.'

/** The mail in words. Throws a TypeError when its data lack something that the template names: that is a fault of ours. */
export function renderMail({ template, data }: Pick<MailRecord, 'template' | 'data'>): RenderedMail {
  const content = TEMPLATES[template]((name) => {
    const value = Object.hasOwn(data, name) ? data[name] : undefined
    if (value === undefined) throw new TypeError(`a mail ${template} without ${name}`)
    return oneLine(value)
  })
  return { subject: oneLine(content.subject), text: asText(content), html: asHtml(content).markup }
}

function asText({ paragraphs, facts, advice, reason = REASON }: Content): string {
  const width = Math.max(...facts.map(([label]) => label.length))
  const lines = facts.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`)
  return [...paragraphs, lines.join('\n'), advice, `-- \n${reason}`].join('\n\n')
}

function asHtml({ subject, paragraphs, facts, advice, reason = REASON }: Content): Html {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family:sans-serif;max-width:40em">
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}<table>
${facts.map(([label, value]) => html`<tr><th align="left">${label}</th><td><code>${value}</code></td></tr>\n`)}</table>
<p>${advice}</p>
<p><small>${reason}</small></p>
</body></html>
`
}

/** Line breaks and control characters of any script become spaces, so that no value can end a header or a line. */
function oneLine(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]+/gu, ' ').trim()
}

/** Queries of URLs hold tokens now and then. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, '')
}
