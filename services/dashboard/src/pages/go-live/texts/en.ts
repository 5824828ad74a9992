import { GO_LIVE_LABELS } from '#shared/contracts/go-live-labels.ts'

/** The page in English. */
export const en = {
  ...GO_LIVE_LABELS,
  title: 'Going live',
  live: 'Checks before real money arrives.',
  rehearsal: 'A dry run using your test-mode nodes.',
  check: 'Check now',
  passed: (passed: number, all: number) => `${passed} of ${all} passed`,
  ready: 'Everything has passed.',
  needsAdmin: 'Requires the Admin role.',
  needsOwner: 'Requires the Owner role.',
  why: 'Why it matters',
  mend: 'How to fix it',
  by: 'by',
  addressAt: (path: string) => `Address at ${path}`,
  listedAddress: 'One address of this wallet',
  compare: 'Compare',
  same: 'The addresses are the same.',
  differs: 'The addresses differ.',
  state: 'I keep it elsewhere',
  stated: 'Stated.',
  cancel: 'Cancel',
  checks: 'the checks',
  confirmKey: 'I can read the master key and the pepper without this server.',
  sendMail: 'Send a test mail',
  sent: 'Test mail queued.',
  asset: 'Coin or token',
  amount: 'Amount in US dollars',
  create: 'Create the test invoice',
  created: 'Invoice created. Pay it from your own wallet.',
  invoice: (number: number) => `Invoice ${number}`,
}

/** The texts of the page in one language. */
export type GoLiveTexts = typeof en
