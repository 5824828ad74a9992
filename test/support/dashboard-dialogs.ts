import type { ListSeed } from './list-seed.ts'

/** A dialog of the dashboard, and how a person opens it. */
export interface DashboardDialog {
  /** Behind `/{workspace}/{mode}/`. */
  readonly page: string | ((seed: ListSeed) => string)
  /** The button that opens it: the first one of this name. */
  readonly button?: string | RegExp
  /** The key that opens it, in place of a button. */
  readonly key?: string
  /** Its name. */
  readonly title: string | RegExp
  /** It is only on a phone. */
  readonly isPhone?: true
}

/**
 * The dialogs. Declared here one is looked at by axe in both themes, fits a window of 900 pixels, and gives the focus back.
 * `dialogs.test.ts` reads the sources and names a dialog that is missing.
 */
export const DASHBOARD_DIALOGS: readonly DashboardDialog[] = [
  { page: 'overview', key: '?', title: 'Keyboard shortcuts' },
  { page: 'links', button: 'New link', title: 'New payment link' },
  { page: 'products', button: 'New product', title: 'New product' },
  { page: 'products', button: /^Edit Coffee beans/, title: 'Edit product' },
  { page: 'keys', button: 'New key', title: 'New test key' },
  { page: 'keys', button: 'Revoke', title: 'Revoke API key' },
  { page: 'team', button: 'Invite', title: 'Invite a team member' },
  { page: 'webhooks/endpoints', button: 'Add endpoint', title: 'Add endpoint' },
  { page: 'webhooks/deliveries', button: 'Resend missed events…', title: 'Resend missed events' },
  {
    page: ({ refusingEndpointId }) => `webhooks/endpoints/${refusingEndpointId}`,
    button: 'Pause endpoint',
    title: 'Pause endpoint',
  },
  {
    page: ({ refusingEndpointId }) => `webhooks/endpoints/${refusingEndpointId}`,
    button: 'Rotate secret…',
    title: 'Rotate the signing secret',
  },
  { page: ({ invoices }) => `invoices/${invoices['pending']}`, button: 'Cancel invoice', title: 'Cancel invoice' },
  { page: ({ invoices }) => `invoices/${invoices['paid']}`, button: 'Refund …', title: 'Prepare a refund' },
  { page: 'invoices', button: /^Filters/, title: 'Filters', isPhone: true },
  { page: 'invoices', button: 'More', title: 'All pages', isPhone: true },
]

/** Dialogs that need their own story: the test that looks at them with axe. */
export const DIALOGS_OF_STORIES: Readonly<Record<string, string>> = {
  'Confirm it’s you': 'log-in.test.ts',
  'Turn on two-factor authentication first': 'people.test.ts',
  'Revoke their API keys?': 'people.test.ts',
  'Change role': 'people.test.ts',
  'Edit payment link': 'link-limits.deep.test.ts',
  'Signing secret': 'rotate-secret.deep.test.ts',
  'Apply to an invoice': 'apply-by-number.test.ts',
}
