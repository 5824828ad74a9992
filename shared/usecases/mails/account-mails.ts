import type { Content, Fact } from './mail-content.ts'

const REASON = 'You get this mail because this address logs in to the dashboard of a Paymesh installation.'

/** Mails about log-ins. */
export const ACCOUNT_MAILS = {
  login_new_device: (fact: Fact): Content => ({
    subject: 'Log-in from a new browser',
    paragraphs: ['Somebody logged in to the dashboard with your password from a browser that was not used before.'],
    facts: [
      ['Time', fact('time')],
      ['Address', fact('ip')],
      ['Browser', fact('user_agent')],
      ['Account', fact('email')],
    ],
    advice:
      'If this was not you, change your password in the dashboard under your name: every log-in ends. Then set up an authenticator.',
    reason: REASON,
  }),
  recovery_code_used: (fact: Fact): Content => ({
    subject: 'A recovery code was used',
    paragraphs: ['A recovery code took the place of your authenticator. It cannot be used again.'],
    facts: [
      ['Time', fact('time')],
      ['Address', fact('ip')],
      ['Codes left', fact('left')],
      ['Account', fact('email')],
    ],
    advice:
      'If this was not you, change your password and set up your authenticator again, which makes new recovery codes.',
    reason: REASON,
  }),
  account_changed: (fact: Fact): Content => ({
    subject: 'Your log-in was changed',
    paragraphs: [fact('what')],
    facts: [
      ['Time', fact('time')],
      ['Account', fact('email')],
    ],
    advice: 'If this was not you, ask whoever runs this installation to reset your password and your authenticator.',
    reason: REASON,
  }),
  member_invited: (fact: Fact): Content => ({
    subject: `${fact('inviter')} invites you to ${fact('workspace')}`,
    paragraphs: [
      `${fact('inviter')} invites you to join ${fact('workspace')} on a Paymesh installation as ${fact('role')}. The link is for you alone.`,
    ],
    facts: [
      ['Link', fact('url')],
      ['Good until', fact('expires')],
    ],
    advice: 'If you do not know them, ignore this mail: nothing happens.',
    reason: 'You get this mail because a member of that workspace gave this address.',
  }),
  owner_notice: (fact: Fact): Content => ({
    subject: `${fact('headline')} at ${fact('workspace')}`,
    paragraphs: [fact('sentence'), 'Every owner of the workspace gets this mail, and so does the person it is about.'],
    facts: [
      ['Who', fact('actor')],
      ['When', fact('time')],
      ['From address', fact('from')],
      ['Reason given', fact('reason')],
    ],
    advice:
      'If none of you did this: change your passwords and end all log-ins in the dashboard under your name, undo the change, and read the audit trail of the workspace. If you cannot log in any more, ask whoever runs this installation.',
    reason: 'You get this mail because you own this workspace, or because the change is about you.',
  }),
} as const
