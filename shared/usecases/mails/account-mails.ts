import type { Content, Fact } from './mail-content.ts'

const REASON = 'You receive this email because you have an account on this Paymesh server.'

/** Mails about accounts and logins. */
export const ACCOUNT_MAILS = {
  login_new_device: (fact: Fact): Content => ({
    subject: 'Log-in from a new browser',
    paragraphs: ['Someone logged in to your account from a new browser.'],
    facts: [
      ['Time', fact('time')],
      ['Address', fact('ip')],
      ['Browser', fact('user_agent')],
      ['Account', fact('email')],
    ],
    advice:
      'If this wasn’t you, change your password now; it logs out every session. Then turn on two-factor authentication.',
    reason: REASON,
  }),
  recovery_code_used: (fact: Fact): Content => ({
    subject: 'A recovery code was used',
    paragraphs: ['A recovery code was used instead of your authenticator. It cannot be used again.'],
    facts: [
      ['Time', fact('time')],
      ['Address', fact('ip')],
      ['Codes left', fact('left')],
      ['Account', fact('email')],
    ],
    advice:
      'If this wasn’t you, change your password and set up two-factor authentication again, which creates new recovery codes.',
    reason: REASON,
  }),
  account_changed: (fact: Fact): Content => ({
    subject: 'Your account security was changed',
    paragraphs: [fact('what')],
    facts: [
      ['Time', fact('time')],
      ['Account', fact('email')],
    ],
    advice:
      'If this wasn’t you and you did not ask for it, ask your administrator to reset your password and two-factor authentication.',
    reason: REASON,
  }),
  password_reset_requested: (fact: Fact): Content => ({
    subject: 'Choose a new password',
    paragraphs: ['Someone asked for a new password for your account. The link works once. Do not share it.'],
    facts: [
      ['Link', fact('url')],
      ['Expires', fact('expires')],
      ['Time', fact('time')],
      ['Address', fact('ip')],
      ['Account', fact('email')],
    ],
    advice: 'If this wasn’t you, ignore this email: your password stays as it is.',
    reason: REASON,
  }),
  member_invited: (fact: Fact): Content => ({
    subject: `${fact('inviter')} invites you to ${fact('workspace')}`,
    paragraphs: [
      `${fact('inviter')} invites you to join ${fact('workspace')} on a Paymesh server as ${fact('role')}. Do not share the link.`,
    ],
    facts: [
      ['Link', fact('url')],
      ['Expires', fact('expires')],
    ],
    advice: 'If you don’t know the sender, ignore this email.',
    reason: 'You receive this email because a member of that workspace entered this address.',
  }),
  owner_notice: (fact: Fact): Content => ({
    subject: `${fact('headline')} at ${fact('workspace')}`,
    paragraphs: [fact('sentence'), 'Every owner of the workspace and the affected user get this email.'],
    facts: [
      ['By', fact('actor')],
      ['When', fact('time')],
      ['From address', fact('from')],
      ['Reason given', fact('reason')],
    ],
    advice:
      'If none of you did this: change your passwords, log out all sessions under Account security, undo the change, and check the audit log of the workspace. If you can no longer log in, ask your administrator.',
    reason: 'You receive this email because you own this workspace, or because the change affects you.',
  }),
} as const
