/** Labels of actions whose name does not read well; every other action is labelled by its name. */
const LABELS = new Map(
  Object.entries({
    'api_key.created': 'API key created',
    'api_key.revoked': 'API key revoked',
    'auth.authenticator_requested': 'Two-factor setup started',
    'auth.authenticator_removed': 'Two-factor authentication turned off',
    'auth.authenticator_set': 'Two-factor authentication turned on',
    'auth.logged_in': 'Logged in',
    'auth.logged_out': 'Logged out',
    'auth.log_in_failed': 'Failed log-in',
    'auth.password_changed': 'Password changed',
    'auth.password_given': 'Password accepted',
    'auth.recovery_code_used': 'Recovery code used',
    'auth.recovery_codes_renewed': 'Recovery codes renewed',
    'auth.sessions_ended': 'Sessions logged out',
    'auth.stepped_up': 'Confirmed with a two-factor code',
    'chain.deadlines_released': 'Deadlines released',
    'endpoint.disabled': 'Webhook endpoint paused',
    'endpoint.enabled': 'Webhook endpoint resumed',
    'endpoint.recovery_requested': 'Resending of missed events requested',
    'endpoint.recovery_done': 'Resending of missed events finished',
    'exception.attached': 'Payment applied',
    'exception.closed': 'Exception resolved',
    'exception.noted': 'Note added to exception',
    'golive.address_compared': 'Wallet address compared',
    'golive.mail_sent': 'Go-live test mail sent',
    'golive.master_key_stated': 'Copy of the master key stated',
    'golive.payment_started': 'Go-live self-payment started',
    'invoice.customer_erased': 'Personal data erased',
    'invoice.funds_accepted': 'Underpayment accepted',
    'invoice.note_added': 'Note added',
    'invoice.payment_attached': 'Payment applied',
    'invoice.payment_counted': 'Payment applied',
    'invoice.payment_simulated': 'Payment simulated',
    'member.invitation_withdrawn': 'Invitation withdrawn',
    'operator.authenticator_reset': 'Two-factor authentication reset',
    'operator.created': 'User created',
    'operator.password_reset': 'Password reset',
    'rate.confirmed': 'Jump of a rate confirmed',
    'refund.address_given': 'Refund address entered',
    'refund.requested': 'Refund address requested',
    'refund.sent': 'Refund recorded',
    'wallet.displaced': 'Wallet replaced by a proof of control',
    'wallet.proof_requested': 'Proof of control requested',
    'wallet.proved': 'Control of wallet proved',
  }),
)

/** An audited action in words: `invoice.cancelled` is "Invoice cancelled". */
export function actionLabel(action: string): string {
  const label = LABELS.get(action)
  if (label !== undefined) return label
  const words = action.replaceAll(/[._]/g, ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** An actor of the audit log as shown to people: a user's email address, `CLI (root)`, `System`. */
export function actorLabel(actor: string): string {
  if (actor.startsWith('user:')) return actor.slice('user:'.length)
  if (actor.startsWith('cli:')) return `CLI (${actor.slice('cli:'.length)})`
  if (actor === 'customer') return 'Customer'
  if (actor === 'somebody') return 'Somebody unknown'
  return actor === 'system' || actor === 'start' || actor === 'audit-chain' ? 'System' : actor
}
