import { randomUUID } from 'node:crypto'
import type { Citation } from '#test/support/citations.ts'
import { evmAccounts } from '#test/support/prove-control.ts'
import type { ForeignKind, Tenant } from './foreign-world.ts'

/** A try of one workspace to reach a thing of another by the field of the procedure. */
export interface ForeignTry {
  readonly of: ForeignKind
  readonly call: (bob: Tenant, id: string) => Promise<unknown>
}
/** Why a field needs no try, and the test that shows what stands there instead. */
export interface Exempt {
  readonly because: string
  readonly shownBy?: Citation
}

const op = () => ({ opId: randomUUID() })
const reason = 'it is ours'
const TEST = { mode: 'test' } as const
const tries = (of: ForeignKind, call: ForeignTry['call']): ForeignTry => ({ of, call })
const WORDS: Exempt = { because: 'a text, a name, a number or a code, which names nothing that is stored' }
const OWN_LOG_IN: Exempt = {
  because: 'a secret or a code of the person’s own log-in, not an id',
  shownBy: [
    'services/admin/authorisation.int.test.ts',
    'every procedure × every person × every state of the second factor',
  ],
}
const LINK: Exempt = {
  because: 'the secret of a link: its owner is the person who was invited',
  shownBy: [
    'services/admin/routers/former-inviters.int.test.ts',
    'an invitation is void once its inviter was removed, and stays void when they come back',
  ],
}
const NEW_SECRET: Exempt = {
  because: 'a secret that the caller makes up: it is held against those of the same endpoint alone',
  shownBy: ['shared/usecases/endpoints/endpoint-tools.int.test.ts', 'takes a secret that receivers know already'],
}
const INSTALLATION: Exempt = { because: 'for people who run the installation, who may read all of it' }
const OF_INSTALLATION: Exempt = {
  ...INSTALLATION,
  shownBy: [
    'services/admin/authorisation.int.test.ts',
    'every procedure × every person × every state of the second factor',
  ],
}
const ADDRESSES: Exempt = {
  because: 'addresses and keys are public: what decides is a proof',
  shownBy: [
    'services/admin/routers/wallet-proofs.int.test.ts',
    'an addition without a proof is refused in the same words, known elsewhere or not, and stores nothing',
  ],
}
const SIGNED: Exempt = {
  because: 'a signature, which is checked against the text of the challenge',
  shownBy: ['shared/chains/ownership/verify-control.test.ts', 'takes $family, $form, made by $made_by'],
}

const PEOPLE = {
  'auth.logIn email': OWN_LOG_IN,
  'auth.logIn password': OWN_LOG_IN,
  'auth.giveCode code': OWN_LOG_IN,
  'auth.giveRecoveryCode code': OWN_LOG_IN,
  'auth.stepUp code': OWN_LOG_IN,
  'auth.beginEnrolment password': OWN_LOG_IN,
  'auth.beginEnrolment code': OWN_LOG_IN,
  'auth.confirmEnrolment code': OWN_LOG_IN,
  'auth.changePassword password': OWN_LOG_IN,
  'auth.changePassword next': OWN_LOG_IN,
  'auth.endSessions loginId': tries('login', ({ caller }, loginId) => caller.auth.endSessions({ loginId })),
  'auth.invitation token': LINK,
  'auth.acceptInvitation token': LINK,
  'auth.acceptInvitation name': WORDS,
  'auth.acceptInvitation password': WORDS,
  'auth.requestReset email': OWN_LOG_IN,
  'auth.resetPassword token': LINK,
  'auth.resetPassword password': WORDS,
  'workspace.update change.name': WORDS,
  'workspace.update change.supportContact': WORDS,
  'workspace.update change.brandColour': WORDS,
  'workspace.update change.timeZone': WORDS,
  'workspace.adoptZone zone': WORDS,
  'workspace.setLogo image': { because: 'the bytes of a picture, which are decoded and encoded again' },
  'members.invite email': WORDS,
  'members.withdrawInvitation invitationId': tries('invitation', ({ caller, at }, invitationId) =>
    caller.members.withdrawInvitation({ ...at, ...op(), invitationId }),
  ),
  'members.setRole userId': tries('member', ({ caller, at }, userId) =>
    caller.members.setRole({ ...at, ...op(), userId, from: 'viewer', to: 'support' }),
  ),
  'members.remove userId': tries('member', ({ caller, at }, userId) =>
    caller.members.remove({ ...at, ...op(), userId, from: 'viewer' }),
  ),
  'apiKeys.create name': WORDS,
  'apiKeys.revoke keyId': tries('apiKey', ({ caller, at }, id) => {
    const [keyId = '', last4 = 'abcd'] = id.split(' ')
    return caller.apiKeys.revoke({ ...at, ...op(), keyId, last4 })
  }),
  'apiKeys.revoke last4': WORDS,
  'audit.list subject': tries('invoice', ({ caller, at }, subject) => caller.audit.list({ ...at, subject })),
  'audit.list actor': tries('actor', ({ caller, at }, actor) => caller.audit.list({ ...at, actor })),
  'audit.list cursor': tries('auditPlace', ({ caller, at }, cursor) => caller.audit.list({ ...at, cursor })),
  'audit.listAll subject': INSTALLATION,
  'audit.listAll actor': INSTALLATION,
  'audit.listAll cursor': INSTALLATION,
  'audit.verify since.hash': INSTALLATION,
} satisfies Record<string, ForeignTry | Exempt>

const MONEY = {
  'invoices.list q': tries('invoice', ({ caller, at }, q) => caller.invoices.list({ ...at, q })),
  'invoices.list cursor': tries('invoicePlace', ({ caller, at }, cursor) => caller.invoices.list({ ...at, cursor })),
  'invoices.get id': tries('invoice', ({ caller, at }, id) => caller.invoices.get({ ...at, id })),
  'invoices.timeline id': tries('invoice', ({ caller, at }, id) => caller.invoices.timeline({ ...at, id })),
  'invoices.cancel id': tries('openInvoice', ({ caller, at }, id) => caller.invoices.cancel({ ...at, ...op(), id })),
  'invoices.simulate id': tries('testInvoice', ({ caller, at }, id) =>
    caller.invoices.simulate({ ...at, ...TEST, ...op(), id, scenario: 'paid' }),
  ),
  'invoices.eraseCustomer id': tries('invoice', ({ caller, at }, id) =>
    caller.invoices.eraseCustomer({ ...at, ...op(), id, reason }),
  ),
  'invoices.create invoice.amount': WORDS,
  'invoices.create invoice.currency': WORDS,
  'invoices.create invoice.description': WORDS,
  'invoices.create invoice.order_id': WORDS,
  'invoices.create invoice.asset': WORDS,
  'invoices.create invoice.customer.email': WORDS,
  'invoices.create invoice.customer.name': WORDS,
  'invoices.openRefund id': tries('invoice', ({ caller, at }, id) =>
    caller.invoices.openRefund({ ...at, ...op(), id, amount: '0.001', asset: 'eth_ethereum' }),
  ),
  'invoices.openRefund amount': WORDS,
  'invoices.recordRefund refundId': tries('refund', ({ caller, at }, refundId) =>
    caller.invoices.recordRefund({ ...at, ...op(), refundId, txHash: `0x${'ab'.repeat(32)}` }),
  ),
  'invoices.recordRefund txHash': WORDS,
  'invoices.withdrawRefund refundId': tries('refund', ({ caller, at }, refundId) =>
    caller.invoices.withdrawRefund({ ...at, ...op(), refundId }),
  ),
  'payments.list q': tries('payment', ({ caller, at }, q) => caller.payments.list({ ...at, q })),
  'payments.list cursor': tries('paymentPlace', ({ caller, at }, cursor) => caller.payments.list({ ...at, cursor })),
  'payments.previewAttach paymentId': tries('unmatchedPayment', (bob, paymentId) =>
    bob.caller.payments.previewAttach({ ...bob.at, paymentId, invoiceId: bob.own.openInvoice }),
  ),
  'payments.previewAttach invoiceId': tries('openInvoice', (bob, invoiceId) =>
    bob.caller.payments.previewAttach({ ...bob.at, paymentId: bob.own.unmatchedPayment, invoiceId }),
  ),
  'payments.previewAttach valueBase': WORDS,
  'payments.attach paymentId': tries('unmatchedPayment', (bob, paymentId) =>
    bob.caller.payments.attach({ ...bob.at, ...op(), paymentId, invoiceId: bob.own.openInvoice, reason }),
  ),
  'payments.attach invoiceId': tries('openInvoice', (bob, invoiceId) =>
    bob.caller.payments.attach({ ...bob.at, ...op(), paymentId: bob.own.unmatchedPayment, invoiceId, reason }),
  ),
  'payments.attach valueBase': WORDS,
  'payments.count paymentId': tries('payment', ({ caller, at }, paymentId) =>
    caller.payments.count({ ...at, ...op(), paymentId, reason }),
  ),
  'paymentLinks.list cursor': tries('linkPlace', ({ caller, at }, cursor) =>
    caller.paymentLinks.list({ ...at, cursor }),
  ),
  'paymentLinks.get id': tries('link', ({ caller, at }, id) => caller.paymentLinks.get({ ...at, id })),
  'paymentLinks.update id': tries('link', ({ caller, at }, id) =>
    caller.paymentLinks.update({ ...at, ...op(), id, version: 1, link: { title: 'Free', amount: '0.01' } }),
  ),
  'paymentLinks.update link.title': WORDS,
  'paymentLinks.update link.description': WORDS,
  'paymentLinks.update link.amount': WORDS,
  'paymentLinks.update link.min_amount': WORDS,
  'paymentLinks.update link.max_amount': WORDS,
  'paymentLinks.update link.expires_at': WORDS,
  'paymentLinks.deactivate id': tries('link', ({ caller, at }, id) =>
    caller.paymentLinks.deactivate({ ...at, ...op(), id }),
  ),
  'paymentLinks.create link.product_id': tries('product', ({ caller, at }, product_id) =>
    caller.paymentLinks.create({ ...at, ...op(), link: { product_id } }),
  ),
  'paymentLinks.create link.title': WORDS,
  'paymentLinks.create link.expires_at': WORDS,
  'paymentLinks.create link.description': WORDS,
  'paymentLinks.create link.currency': WORDS,
  'paymentLinks.create link.amount': WORDS,
  'paymentLinks.create link.min_amount': WORDS,
  'paymentLinks.create link.max_amount': WORDS,
  'products.list cursor': tries('productPlace', ({ caller, at }, cursor) => caller.products.list({ ...at, cursor })),
  'products.update id': tries('product', ({ caller, at }, id) =>
    caller.products.update({ ...at, ...op(), id, version: 1, product: { name: 'Free', price: '0.01' } }),
  ),
  'products.update product.name': WORDS,
  'products.update product.price': WORDS,
  'products.update product.description': WORDS,
  'products.create product.name': WORDS,
  'products.create product.price': WORDS,
  'products.create product.currency': WORDS,
  'products.create product.description': WORDS,
  'products.create product.sku': WORDS,
  'exceptions.list cursor': tries('exceptionPlace', ({ caller, at }, cursor) =>
    caller.exceptions.list({ ...at, cursor }),
  ),
  'exceptions.get id': tries('exception', ({ caller, at }, id) => caller.exceptions.get({ ...at, id })),
  'exceptions.accept id': tries('exception', ({ caller, at }, id) =>
    caller.exceptions.accept({ ...at, ...op(), id, reason }),
  ),
  'exceptions.accept valueBase': WORDS,
  'exceptions.attach id': tries('exception', (bob, id) =>
    bob.caller.exceptions.attach({ ...bob.at, ...op(), id, reason, invoiceId: bob.own.openInvoice }),
  ),
  'exceptions.attach invoiceId': tries('openInvoice', (bob, invoiceId) =>
    bob.caller.exceptions.attach({ ...bob.at, ...op(), id: bob.own.exception, reason, invoiceId }),
  ),
  'exceptions.attach valueBase': WORDS,
  'exceptions.reject id': tries('exception', ({ caller, at }, id) =>
    caller.exceptions.reject({ ...at, ...op(), id, reason }),
  ),
  'exceptions.close id': tries('exception', ({ caller, at }, id) => caller.exceptions.close({ ...at, ...op(), id })),
  'exceptions.previewMany ids[]': tries('exception', ({ caller, at }, id) =>
    caller.exceptions.previewMany({ ...at, ids: [id] }),
  ),
  'exceptions.decideMany ids[]': tries('exception', ({ caller, at }, id) =>
    caller.exceptions.decideMany({ ...at, ...op(), ids: [id], resolution: 'rejected', reason }),
  ),
  'exceptions.note id': tries('exception', ({ caller, at }, id) =>
    caller.exceptions.note({ ...at, ...op(), id, text: reason }),
  ),
  'exceptions.note text': WORDS,
  'exceptions.closeOfInstallation id': OF_INSTALLATION,
  'diagnostics.invoice id': OF_INSTALLATION,
  'diagnostics.transaction txHash': INSTALLATION,
  'diagnostics.explain q': tries('unmatchedPayment', async ({ caller, at }, q) => ({
    ...(await caller.diagnostics.explain({ ...at, q })),
    tookMs: 0,
  })),
  'settlements.list cursor': WORDS,
  'invoices.openRefund address': ADDRESSES,
  'invoices.addNote id': tries('openInvoice', ({ caller, at }, id) =>
    caller.invoices.addNote({ ...at, ...op(), id, text: reason }),
  ),
  'invoices.addNote text': WORDS,
  'customers.get id': tries('invoice', ({ caller, at }, id) => caller.customers.get({ ...at, id })),
  'customers.invoices id': tries('invoice', ({ caller, at }, id) => caller.customers.invoices({ ...at, id })),
  'customers.invoices cursor': tries('invoicePlace', (bob, cursor) =>
    bob.caller.customers.invoices({ ...bob.at, id: bob.own.invoice, cursor }),
  ),
  'overview.volume zone': WORDS,
  'overview.volume span.first': WORDS,
  'overview.volume span.last': WORDS,
  'overview.funnel zone': WORDS,
  'overview.funnel span.first': WORDS,
  'overview.funnel span.last': WORDS,
  'rates.confirm price': WORDS,
  'live.changes lastEventId': {
    because: 'a place in the feed, of which a view gets its own workspace’s changes only',
    shownBy: ['services/admin/live-hub.test.ts', 'changes of others are not told'],
  },
} satisfies Record<string, ForeignTry | Exempt>

const SENDING = {
  'endpoints.get endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.endpoints.get({ ...at, endpointId }),
  ),
  'endpoints.create endpoint': WORDS,
  'endpoints.update endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.endpoints.update({
      ...at,
      ...op(),
      endpointId,
      version: 1,
      events: ['*'],
      description: null,
      inFlightMax: null,
    }),
  ),
  'endpoints.update description': WORDS,
  'endpoints.setStatus endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.endpoints.setStatus({ ...at, ...op(), endpointId, status: 'disabled' }),
  ),
  'endpoints.remove endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.endpoints.remove({ ...at, ...op(), endpointId }),
  ),
  'endpoints.rotate endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.endpoints.rotate({ ...at, ...op(), endpointId }),
  ),
  'endpoints.rotate newSecret': NEW_SECRET,
  'endpoints.sendTest endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.endpoints.sendTest({ ...at, ...op(), endpointId }),
  ),
  'endpoints.recover endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.endpoints.recover({ ...at, ...op(), endpointId, since: 1, scope: 'all' }),
  ),
  'deliveries.list endpointId': tries('endpoint', ({ caller, at }, endpointId) =>
    caller.deliveries.list({ ...at, endpointId }),
  ),
  'deliveries.list q': tries('delivery', ({ caller, at }, q) => caller.deliveries.list({ ...at, q })),
  'deliveries.list cursor': tries('deliveryPlace', ({ caller, at }, cursor) =>
    caller.deliveries.list({ ...at, cursor }),
  ),
  'deliveries.get deliveryId': tries('delivery', ({ caller, at }, deliveryId) =>
    caller.deliveries.get({ ...at, deliveryId }),
  ),
  'deliveries.resend deliveryId': tries('delivery', ({ caller, at }, deliveryId) =>
    caller.deliveries.resend({ ...at, ...op(), deliveryId }),
  ),
  'deliveries.resendMany deliveryIds[]': tries('delivery', ({ caller, at }, id) =>
    caller.deliveries.resendMany({ ...at, ...op(), deliveryIds: [id] }),
  ),
  'deliveries.events q': tries('event', ({ caller, at }, q) => caller.deliveries.events({ ...at, q })),
  'deliveries.events cursor': tries('eventPlace', ({ caller, at }, cursor) =>
    caller.deliveries.events({ ...at, cursor }),
  ),
  'deliveries.event eventId': tries('event', ({ caller, at }, eventId) => caller.deliveries.event({ ...at, eventId })),
} satisfies Record<string, ForeignTry | Exempt>

const FOREIGN_ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7'
const answered = (nonce: string) => ({ nonce, signatures: [{ address: '', signature: '0x00' }] })
const WALLETS = {
  'wallets.get walletId': tries('wallet', ({ caller, at }, walletId) => caller.wallets.get({ ...at, walletId })),
  'wallets.use walletId': tries('wallet', ({ caller, at }, walletId) => caller.wallets.use({ ...at, walletId })),
  'goLive.confirmAddress walletId': tries('wallet', ({ caller, at }, walletId) =>
    caller.goLive.confirmAddress({ ...at, ...op(), walletId, address: FOREIGN_ADDRESS }),
  ),
  'goLive.confirmAddress address': ADDRESSES,
  'goLive.startPayment amount': WORDS,
  'funds.page walletId': tries('wallet', ({ caller, at }, walletId) =>
    caller.funds.page({ ...at, walletId, network: 'ethereum' }),
  ),
  'funds.page after': {
    because: 'a place in the list of the wallet that the caller names, which has to be their own',
    shownBy: [
      'services/admin/routers/funds.int.test.ts',
      'shows no address of another workspace, whose wallet has the same key',
    ],
  },
  'wallets.prepare value': ADDRESSES,
  'wallets.prepare path': WORDS,
  'wallets.add value': ADDRESSES,
  'wallets.add path': WORDS,
  'wallets.add proof.nonce': tries('nonce', ({ caller, at }, nonce) => {
    const value = evmAccounts(1)[0]?.address ?? ''
    return caller.wallets.add({ ...at, ...op(), family: 'evm', kind: 'address', value, proof: answered(nonce) })
  }),
  'wallets.add proof.signatures[].address': SIGNED,
  'wallets.add proof.signatures[].signature': SIGNED,
  'wallets.challenge about.walletId': tries('wallet', ({ caller, at }, walletId) =>
    caller.wallets.challenge({ ...at, ...op(), about: { walletId } }),
  ),
  'wallets.challenge about.entered.value': ADDRESSES,
  'wallets.challenge about.entered.path': WORDS,
  'wallets.prove walletId': tries('wallet', ({ caller, at }, walletId) =>
    caller.wallets.prove({ ...at, ...op(), walletId, proof: answered('ab'.repeat(16)) }),
  ),
  'wallets.prove proof.nonce': tries('nonce', (bob, nonce) =>
    bob.caller.wallets.prove({ ...bob.at, ...op(), walletId: bob.own.wallet, proof: answered(nonce) }),
  ),
  'wallets.prove proof.signatures[].address': SIGNED,
  'wallets.prove proof.signatures[].signature': SIGNED,
  'wallets.disable walletId': tries('wallet', ({ caller, at }, walletId) =>
    caller.wallets.disable({ ...at, ...op(), walletId }),
  ),
  'wallets.enable walletId': tries('wallet', ({ caller, at }, walletId) =>
    caller.wallets.enable({ ...at, ...op(), walletId }),
  ),
} satisfies Record<string, ForeignTry | Exempt>

/** Every text that a procedure takes, as `procedure field`: how another workspace tries it, or why there is nothing to try. */
export const FOREIGN_IDS: Readonly<Record<string, ForeignTry | Exempt>> = {
  ...PEOPLE,
  ...MONEY,
  ...SENDING,
  ...WALLETS,
}
