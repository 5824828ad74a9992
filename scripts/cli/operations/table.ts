import { readFileSync } from 'node:fs'
import type { inferRouterOutputs } from '@trpc/server'
import { InvalidArgumentError } from 'commander'
import type { AppRouter } from '#services/admin/app-router.ts'
import { GO_LIVE_LABELS as EN } from '#shared/contracts/go-live-labels.ts'
import type { GoLiveLine, GoLiveReport } from '#shared/contracts/go-live-report.ts'
import { readSignatureList } from '#shared/contracts/signature-list.ts'
import { SCOPES } from '#shared/domain/enumerations.ts'
import { invoiceText, transactionText } from '../text/explain-text.ts'
import { parseDuration } from '../text/parse-time.ts'
import { ratesText } from '../text/rates-text.ts'
import { CHAINS } from './chain-operations.ts'
import type { Flag, Flags } from './input-flags.ts'
import type { Operation } from './operation.ts'

const MARKS = { passed: '✓', failed: '✗', out_of_date: '↻', open: '·' } as const

const fileText = (path: string): string => readFileSync(path === '-' ? 0 : path, 'utf8')

function signatureFile(path: string): unknown {
  const list = readSignatureList(fileText(path))
  if (list === null) throw new InvalidArgumentError('the file needs one line "address,signature" for each address')
  return list
}

const VALUE: readonly Flag[] = [
  { help: 'the extended public key (account level), the list of addresses, or the address' },
  { name: 'file', help: 'file that contains the value: CSV, or one address per line', read: fileText },
]
const MATERIAL = (prefix: string): Flags => ({
  [`${prefix}family`]: { help: 'address family' },
  [`${prefix}kind`]: { help: 'kind of wallet' },
  [`${prefix}value`]: VALUE,
  [`${prefix}networks`]: { help: 'comma-separated; default: every network of the family' },
  [`${prefix}scriptType`]: {
    help: 'address type of your wallet; required for xpub, Ltub, tpub and ttub of Bitcoin and Litecoin',
  },
  [`${prefix}path`]: { help: "derivation path, required for Electrum keys: m (standard) or m/0' (SegWit)" },
  [`${prefix}startIndex`]: {
    help: 'index of the first address to use, instead of a search for earlier use of the key',
  },
})
const PROOF: Flags = {
  'proof.nonce': { help: 'nonce of the challenge that was signed' },
  'proof.signatures': [
    {
      name: 'signature',
      help: 'signature of the text, for one address or the first address of a key',
      read: (signature) => [{ address: '', signature }],
    },
    {
      name: 'signatures',
      help: 'a file with a line "address,signature" for each address of a pool',
      read: signatureFile,
    },
  ],
}
const newKeyText = ({ key, apiKey }: inferRouterOutputs<AppRouter>['apiKeys']['create']): string =>
  `key ${key.id}\n${apiKey}`
const BY_COMMAND = { otherwise: 'on the command line', help: 'reason for the audit log' }

const MONEY: Readonly<Record<string, Operation>> = {
  'invoice show': {
    ...{ procedure: 'invoices.get', operands: ['id'], about: ['invoice', 'id'] },
    help: 'Show an invoice with its payments, exceptions, refunds and notes.',
  },
  'invoice explain': {
    ...{ procedure: 'diagnostics.invoice', operands: ['id'], text: invoiceText },
    help: 'Show the amount due, every payment and whether it counts, the missing amount, the state of the scanner and the events sent, and explain why the invoice is not paid.',
  },
  'tx explain': {
    ...{ procedure: 'diagnostics.transaction', operands: ['network', 'txHash'], text: transactionText },
    help: 'Show the stored payments of a transaction, whether they count and why; if there are none, what the node returns and whose addresses it pays.',
    flags: {
      block: { help: 'height of its block, for nodes that cannot look up single transactions' },
      mode: { help: 'default: the mode in which the network has a node' },
    },
  },
  'payment attach': {
    ...{ procedure: 'payments.attach', operands: ['paymentId'], about: ['invoice', 'invoiceId'] },
    ...{ dryRun: 'payments.previewAttach' },
    help: 'Apply a stored, confirmed payment to an invoice. Saved in the audit log; safe to repeat.',
    flags: {
      invoiceId: { name: 'invoice', help: 'invoice to pay, in the same workspace' },
      valueBase: {
        name: 'value',
        help: 'value in base units of the invoice’s asset; required if the payment is in another asset',
      },
      notReturned: { help: 'the payment was rejected, but was not returned to the customer and will not be' },
      reason: BY_COMMAND,
    },
    whenRefused:
      'If the payment was rejected, was not returned and will not be, repeat the command with --not-returned.',
  },
  'payment count': {
    ...{ procedure: 'payments.count', operands: ['paymentId'], about: ['payment', 'paymentId'] },
    help: 'Apply a confirmed dust payment with its own amount. Saved in the audit log; safe to repeat.',
  },
  'exception list': {
    ...{ procedure: 'exceptions.list', ownerless: 'exceptions.ofInstallation', isList: true, isWhole: true },
    help: 'List open exceptions, with those of the installation unless an option narrows the list, or the resolved ones.',
    flags: { view: { help: 'open or resolved' }, group: { help: 'those about money, or the others' }, limit: null },
    columns: ['kind', 'openedAt', 'workspaceId', 'mode', 'invoiceId', 'title', 'id'],
  },
  'exception close': {
    ...{ procedure: 'exceptions.close', operands: ['id'], about: ['exception', 'id'], dryRun: 'exceptions.get' },
    ownerless: 'exceptions.closeOfInstallation',
    help: 'Close an exception that needs no decision about money. Its payment and invoice stay as they are. Saved in the audit log.',
  },
  'exception accept': {
    ...{ procedure: 'exceptions.accept', operands: ['id'], about: ['exception', 'id'], dryRun: 'exceptions.get' },
    help: 'Accept the money of an exception: it pays its invoice. Saved in the audit log.',
    flags: { valueBase: { name: 'value', help: 'value in base units of the invoice’s asset' } },
  },
  'exception reject': {
    ...{ procedure: 'exceptions.reject', operands: ['id'], about: ['exception', 'id'], dryRun: 'exceptions.get' },
    help: 'Reject the money of an exception: you return it to the customer. Saved in the audit log.',
  },
}

const KEYS: Readonly<Record<string, Operation>> = {
  'api-key create': {
    ...{ procedure: 'apiKeys.create', text: newKeyText, note: 'Save it now: it is not shown again.' },
    help: 'Create an API key. It is printed once and never stored in plain text. Owners get an email about a live key.',
    flags: {
      name: { help: 'name of the key' },
      scopes: {
        ...{ help: 'all (default), or a comma-separated list', otherwise: SCOPES },
        read: (text) => (text === 'all' ? SCOPES : text.split(',').map((scope) => scope.trim())),
      },
    },
  },
  'api-key revoke': {
    ...{ procedure: 'apiKeys.revoke', operands: ['keyId'], about: ['key', 'keyId'], flags: { last4: null } },
    help: 'Revoke an API key. It stops working immediately.',
  },
  'api-key list': {
    ...{ procedure: 'apiKeys.list', isList: true },
    help: 'List API keys, without the keys themselves.',
    columns: ['id', 'workspaceId', 'mode', 'last4', 'createdAt', 'revokedAt', 'lastUsedAt', 'name', 'scopes'],
  },
}

const ENDPOINT = { operands: ['endpointId'], about: ['endpoint', 'endpointId'], takesMode: true } as const
const WEBHOOKS: Readonly<Record<string, Operation>> = {
  'endpoint list': {
    ...{ procedure: 'endpoints.list', isList: true },
    help: 'List webhook endpoints with their health, without their secrets.',
    columns: ['id', 'workspaceId', 'status', 'mode', 'events', 'health.state', 'url'],
  },
  'endpoint show': {
    ...{ procedure: 'endpoints.get', ...ENDPOINT },
    help: 'Show an endpoint, its health and latest failures, and the progress of resends.',
  },
  'endpoint test': {
    ...{ procedure: 'endpoints.sendTest', ...ENDPOINT },
    help: 'Send a webhook.test event with a sample invoice, regardless of the subscribed events.',
  },
  'endpoint rotate-secret': {
    ...{ procedure: 'endpoints.rotate', ...ENDPOINT },
    help: 'Create a new signing secret, printed once. Deploy both secrets to the receiver first, then rotate: --secret-file sets the new one beforehand. Saved in the audit log.',
    flags: {
      overlapMs: {
        ...{ name: 'overlap', read: parseDuration },
        help: 'how long the old secret stays valid: 0, 90m, 24h (default) … 7d',
      },
      newSecret: {
        ...{ name: 'secret-file', read: (path: string) => fileText(path).trim() },
        help: 'file with the new secret: whsec_ and 24 to 64 random bytes in base64; - reads stdin',
      },
    },
    note: 'Save the secret now: it is not shown again. Until oldSecretUntil the webhook-signature header also contains a signature by the old secret; X-Webhook-Signature uses only the new one.',
  },
  'endpoint disable': {
    ...{ procedure: 'endpoints.setStatus', ...ENDPOINT, flags: { status: null }, fixed: { status: 'disabled' } },
    help: 'Pause an endpoint. Queued events are kept; new events are not queued.',
  },
  'endpoint enable': {
    ...{ procedure: 'endpoints.setStatus', ...ENDPOINT, flags: { status: null }, fixed: { status: 'enabled' } },
    help: 'Resume an endpoint. Queued deliveries continue. Resend missed events with: delivery recover.',
  },
  'delivery list': {
    ...{ procedure: 'deliveries.list', isList: true },
    help: 'List deliveries, newest first.',
    flags: {
      endpointId: { name: 'endpoint', help: 'only to this endpoint' },
      status: { help: 'only with this status' },
    },
    columns: ['id', 'createdAt', 'status', 'eventType', 'attempt', 'lastError', 'endpointId'],
  },
  'delivery show': {
    ...{ procedure: 'deliveries.get', operands: ['deliveryId'], about: ['delivery', 'deliveryId'], text: deliveryText },
    help: 'Show a delivery with every attempt, its timing and the reason of its failure.',
  },
  'delivery resend': {
    ...{ procedure: 'deliveries.resend', operands: ['deliveryId'], about: ['delivery', 'deliveryId'] },
    help: 'Resend the same event as a new delivery. Saved in the audit log.',
  },
  'delivery recover': {
    ...{ procedure: 'endpoints.recover', ...ENDPOINT },
    help: 'Resend the events that an endpoint missed in a period. Resumes automatically after a crash.',
    flags: {
      until: { help: 'end (default: now)' },
      scope: { name: 'status', help: 'failed (default): only events it missed; all: all events' },
    },
    note: 'Progress: endpoint show ID.',
  },
}

const WALLETS: Readonly<Record<string, Operation>> = {
  'wallet add': {
    procedure: 'wallets.add',
    help: 'Add a wallet: an extended public key, an address pool (run again to top it up), or a single address.',
    flags: { ...MATERIAL(''), ...PROOF },
    note: 'Compare the first addresses of a key with your wallet: if they differ, do not use it. Make sure that you control the keys of other addresses: an exchange address may change or reject small amounts.',
  },
  'wallet prove': {
    ...{ procedure: 'wallets.challenge', with: ['nonce', 'wallets.prove'], mode: 'live' },
    help: 'Print the text to sign to prove control of a live wallet, or of a new one. Run it again with the signature to submit the proof.',
    flags: {
      ...{ 'about.walletId': { name: 'wallet', help: 'wallet of the workspace' }, ...MATERIAL('about.entered.') },
      ...{ walletId: { name: 'wallet', help: 'wallet of the workspace' }, ...PROOF },
    },
    note: 'Sign exactly the text, with the key of each address, within 24 hours. Then repeat the command, or use wallet add for a new wallet, with --nonce and --signature, or --signatures for a pool.',
  },
  'wallet list': {
    ...{ procedure: 'wallets.list', isList: true },
    help: 'List wallets.',
    columns: ['id', 'workspaceId', 'mode', 'family', 'kind', 'key.scriptType', 'networks', 'disabledAt'],
  },
  'wallet show': {
    ...{ procedure: 'wallets.get', operands: ['walletId'], about: ['wallet', 'walletId'] },
    help: 'Show a wallet, its required gap limit, or the free addresses of its pool.',
    note: 'If requiredGap exceeds usualGap, raise the gap limit in your wallet, or it does not show all payments.',
  },
  'wallet disable': {
    ...{ procedure: 'wallets.disable', operands: ['walletId'], about: ['wallet', 'walletId'], dryRun: 'wallets.get' },
    help: 'Disable a wallet for new invoices. Its addresses are still monitored. Add it again to enable it.',
  },
}

const GO_LIVE_REPORT: Pick<Operation, 'mode' | 'text' | 'isFailure'> = {
  ...{ mode: 'live', text: goLiveText },
  isFailure: ({ isReady }: GoLiveReport) => !isReady,
}
const GO_LIVE: Pick<Operation, 'shows' | 'mode' | 'text' | 'isFailure'> = { ...GO_LIVE_REPORT, shows: 'goLive.read' }
const PREPARING: Readonly<Record<string, Operation>> = {
  'go-live check': {
    ...{ procedure: 'goLive.read', ...GO_LIVE_REPORT },
    help: 'Check everything now.',
  },
  'go-live confirm-address': {
    ...{ procedure: 'goLive.confirmAddress', ...GO_LIVE, operands: ['walletId', 'address'] },
    help: 'Compare the address that your own wallet shows at the stated path.',
  },
  'go-live state-master-key': {
    ...{ procedure: 'goLive.stateMasterKey', ...GO_LIVE },
    help: 'State that the master key is kept at another place as well.',
  },
  'go-live send-mail': {
    ...{ procedure: 'goLive.sendMail', ...GO_LIVE },
    help: 'Send a test mail to an owner.',
  },
  'go-live pay': {
    ...{ procedure: 'goLive.startPayment', ...GO_LIVE },
    help: 'Create a real invoice for a small payment of your own.',
    flags: {
      asset: { help: 'coin or token to pay with' },
      amount: { help: 'amount in US dollars (default: 2.00)', otherwise: '2.00' },
    },
    remark: ({ invoiceId }: { readonly invoiceId: string }, checkoutBaseUrl) =>
      `Pay this invoice, then run the check again: ${checkoutBaseUrl}/i/${invoiceId}`,
  },
}

const RATES: Readonly<Record<string, Operation>> = {
  'rates show': {
    ...{ procedure: 'rates.board', text: ratesText },
    help: 'Show the rate of each coin and currency with its sources, what became of each source’s pairs and why, and jumps that wait for a confirmation.',
  },
  'rates confirm': {
    ...{ procedure: 'rates.confirm', operands: ['name'] },
    help: 'Confirm that a jump of a coin or currency is real: it is published while the sources stay within 3 % of this price, for an hour at most. Saved in the audit log.',
    flags: { price: { help: 'the price that you compared with a market you trust: USD per coin, or units per USD' } },
    note: 'It is published with the next two rounds of the sources, about 30 seconds.',
  },
}

/** Every command that is a procedure of the dashboard API, by its words. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...KEYS,
  ...MONEY,
  ...WEBHOOKS,
  ...WALLETS,
  ...RATES,
  ...PREPARING,
  ...CHAINS,
}

/** What the first words of the commands are for. */
export const GROUPS: Readonly<Record<string, string>> = {
  'api-key': 'Create, revoke and list API keys.',
  invoice: 'Show invoices, and explain why an invoice is not paid.',
  tx: 'Trace a transaction.',
  payment: 'Apply payments that Paymesh does not apply automatically.',
  exception: 'Open exceptions: payments and invoices that need a decision.',
  endpoint: 'List, test, pause and resume webhook endpoints, and rotate their secrets.',
  delivery: 'Inspect and resend deliveries of events.',
  wallet: 'Add, watch and disable receiving wallets (public keys only).',
  rates: 'Show rates and their sources, and confirm jumps.',
  'go-live': 'Guided check before real money arrives.',
  chain: 'Show the state of scanners, and request rescans, rewinds and resumes.',
}

/** The checks before real money arrives, each that has not passed with what to do; the last line is the sum. */
function goLiveText({ lines, passed, isReady }: GoLiveReport): string {
  const sum = isReady ? 'Everything has passed.' : `${passed} of ${lines.length} passed.`
  return [...lines.map(describe), sum].join('\n')
}

function describe({ item, kind, state, at, by, reason, about, path, steps }: GoLiveLine): string {
  const words = EN.items[kind]
  const when = at === null || by === null ? '' : `, ${new Date(at).toISOString().slice(0, 16)}Z by ${by}`
  const head = `${MARKS[state]} ${words.title} [${item}]: ${EN.states[state]}${when}`
  if (state === 'passed') return head
  const why = reason === null ? [] : [`    ${EN.reasons[reason](about)}`]
  const place = path === null ? [] : [`    Address to compare: ${path}`]
  const progress = steps === null ? [] : [`    invoice ${steps.number} (${steps.invoiceId}): ${stepsText(steps)}`]
  return [head, ...why, ...place, ...progress, `    Why: ${words.why}`, `    How: ${words.mend}`].join('\n')
}

const stepsText = (steps: NonNullable<GoLiveLine['steps']>): string =>
  (['seen', 'confirming', 'paid', 'delivered'] as const)
    .map((step) => `${steps[step] ? '✓' : '·'} ${EN.steps[step]}`)
    .join(', ')

type Detail = inferRouterOutputs<AppRouter>['deliveries']['get']
type Attempt = Detail['past'][number]

/** A delivery with every attempt: when, where, how long each phase took, and what the receiver answered. */
function deliveryText({ delivery, past }: Detail): string {
  const { eventType, eventId, endpointUrl, endpointId, status, attempt, dueAt } = delivery
  const next = status === 'pending' ? `, next attempt ${new Date(dueAt).toISOString()}` : ''
  return [
    `${eventType} ${eventId} → ${endpointUrl ?? 'a deleted endpoint'} (${endpointId})`,
    `${status} after ${attempt} attempts${next}`,
    ...past.map(attemptText),
  ].join('\n')
}

function attemptText({ number, at, statusCode, explanation, ip, responseBody, ...timing }: Attempt): string {
  const outcome = explanation ?? `The server returned ${statusCode}.`
  const answer = responseBody.trim() === '' ? '' : `\n     ${JSON.stringify(responseBody.slice(0, 500))}`
  const where = `${new Date(at).toISOString()}  ${ip ?? 'no connection'}  (${phasesText(timing)})`
  return `  ${number}. ${where}\n     ${outcome}${answer}`
}

/** Duration of each phase of a request; phases that did not happen are left out. */
function phasesText({ phases, durationMs }: Pick<Attempt, 'phases' | 'durationMs'>): string {
  const named = {
    dns: phases?.dnsMs,
    connect: phases?.connectMs,
    tls: phases?.tlsMs,
    'first byte': phases?.firstByteMs,
  }
  const reached = Object.entries(named).flatMap(([name, ms]) => (ms == null ? [] : [`${name} ${ms}`]))
  return [...reached, `total ${durationMs} ms`].join(', ')
}
