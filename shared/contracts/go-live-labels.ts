import type { GoLiveKind, GoLiveReason, GoLiveState } from '#shared/domain/golive/go-live.ts'

/** The texts of the go-live check in one language. */
export interface GoLiveLabels {
  readonly states: Readonly<Record<GoLiveState, string>>
  readonly steps: Readonly<Record<'seen' | 'confirming' | 'paid' | 'delivered', string>>
  /** Each item, why it matters, and how to mend it. */
  readonly items: Readonly<Record<GoLiveKind, { readonly title: string; readonly why: string; readonly mend: string }>>
  /** Why an item has not passed; `about` names networks, hosts or people. */
  readonly reasons: Readonly<Record<GoLiveReason, (about: string) => string>>
}

/** The check in English, as the dashboard and the command line show it. */
export const GO_LIVE_LABELS: GoLiveLabels = {
  states: { open: 'Open', passed: 'Passed', failed: 'Failed', out_of_date: 'Out of date' },
  steps: { seen: 'seen', confirming: 'confirming', paid: 'paid', delivered: 'webhook delivered' },
  items: {
    address: {
      title: 'Address in your own wallet',
      why: 'If Paymesh derived other addresses than your wallet, you could not spend what customers pay.',
      mend: 'Open your wallet at the stated path and enter the address that it shows. If it differs, disable this wallet and add the right key.',
    },
    nodes: {
      title: 'Nodes reachable and within quota',
      why: 'Without a node, payments are seen late. A used-up quota ends in refusals.',
      mend: 'Look at System, Chains, or run paymesh chain status. Correct PAYMESH_NETWORKS or raise the quota.',
    },
    second_source: {
      title: 'A second source for each network',
      why: 'One node can fail, lag or lie. A second one at another host is asked before a payment is confirmed.',
      mend: 'Add a second URL of another provider to rpcUrls of each network in PAYMESH_NETWORKS.',
    },
    webhook: {
      title: 'Webhook reachable and verified',
      why: 'Your shop learns of payments from webhooks. An endpoint that was never tried may refuse them.',
      mend: 'Add an endpoint, send it a test event, and check that your receiver verifies the signature and answers 2xx.',
    },
    second_factor: {
      title: 'Second factor for owners and admins',
      why: 'A stolen password alone could replace the receiving wallet.',
      mend: 'Each person turns on two-factor authentication under Account.',
    },
    master_key: {
      title: 'Master key kept elsewhere',
      why: 'A back-up does not contain the master key. Without it, sealed values are lost for good.',
      mend: 'Store PAYMESH_MASTER_KEY and PAYMESH_KEY_PEPPER away from the server, in a password manager or a safe, and state it here.',
    },
    backup: {
      title: 'Back-up made and verified',
      why: 'Without a back-up that can be read, a broken disk ends your records of invoices and addresses.',
      mend: 'Run paymesh backup create, then paymesh backup verify --record on the file. Do this at least once a week.',
    },
    mail: {
      title: 'Mail works',
      why: 'Owners are warned by mail about changed wallets, failing webhooks and payments that need a decision.',
      mend: 'Set PAYMESH_SMTP_URL and PAYMESH_MAIL_FROM, send a test mail, and check again after a minute.',
    },
    payment: {
      title: 'One small payment of your own',
      why: 'Only a real payment proves the whole way from the chain to your shop.',
      mend: 'Create the test invoice, pay it from your own wallet, and check again until the webhook is delivered.',
    },
  },
  reasons: {
    no_wallet: () => 'No wallet receives in this mode.',
    address_differs: () =>
      'The address differs from the one that Paymesh derives. Do not take payments with this wallet.',
    no_node: (about) => `No node is configured: ${about}.`,
    node_silent: (about) => `No response: ${about}.`,
    node_behind: (about) => `A node is not current: ${about}.`,
    node_lacking: (about) => `Not served by a node: ${about}. paymesh chain status shows what goes wrong without it.`,
    quota_used: (about) => `The quota is almost used up: ${about}.`,
    one_source: (about) => `Only one source: ${about}.`,
    no_endpoint: () => 'No enabled endpoint receives events of this mode.',
    webhook_untested: (about) => `Nothing was delivered yet: ${about}.`,
    webhook_failing: (about) => `The newest delivery failed: ${about}.`,
    factor_missing: (about) => `Without a second factor: ${about}.`,
    backup_missing: () => 'No back-up was made in the last eight days.',
    backup_unverified: () => 'No back-up was verified in the last eight days.',
    mail_failed: () => 'The test mail was refused or could not be sent.',
    mail_waits: () => 'The test mail waits for the mail server.',
    invoice_waits: () => 'The invoice waits for your payment.',
    delivery_waits: () => 'The payment is confirmed; its webhook is not delivered yet.',
    invoice_ended: () => 'The invoice ended without the payment. Create another one.',
  },
}
