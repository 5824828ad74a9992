import { describe, expect, test } from 'vitest'
import type { MailRecord } from '#shared/db/mails/mail-model.ts'
import { renderMail } from './render-mail.ts'

/** Each template with the data that its maker gives it. */
const SAMPLES: Readonly<Record<MailRecord['template'], Readonly<Record<string, string>>>> = {
  payment_reorged: { invoice_id: 'inv', invoice_number: '7', payment_key: 'evm:1:0xab:0', mode: 'live' },
  endpoint_failing: { endpointId: 'ep', url: 'https://shop.test/hook?token=hush', firstDeliveryId: 'whd_1' },
  endpoints_behind: {
    workspace: 'Casa Lumbre',
    count: '2',
    endpointId: 'ep',
    url: 'https://shop.test/hook?token=hush',
    state: 'answers in 700 ms: it needs more at once than 64, or is falling behind by 75 s',
    since: '2026-11-21 14:30 UTC',
  },
  shared_key_material: { family: 'evm', mode: 'live', fingerprint: 'abcd1234' },
  wallet_changed: {
    workspace: 'Casa Lumbre',
    change: 'added',
    actor: 'ana@example.com',
    effective: '2026-11-22T14:30:00.000Z',
    family: 'evm',
    kind: 'xpub',
    first_address: '0xabc',
    wallet: 'w-1',
  },
  address_displaced: { workspace: 'Casa Lumbre', family: 'evm', what: '3 addresses', addresses: '0xa, 0xb, 0xc' },
  address_proved: { workspace: 'Casa Lumbre', family: 'evm', what: 'one address', addresses: '0xa' },
  addresses_low: { family: 'tron', mode: 'live', free: '3', total: '50' },
  exceptions_digest: { workspace: 'Casa Lumbre', count: '7', kinds: 'Late payment: 3, since 2026-11-19 14:21 UTC' },
  login_new_device: { email: 'ana@example.com', time: '2026-11-21 14:30 UTC', ip: '192.0.2.7', user_agent: 'Firefox' },
  recovery_code_used: { email: 'ana@example.com', time: '2026-11-21 14:30 UTC', ip: '192.0.2.7', left: '9' },
  account_changed: { email: 'ana@example.com', time: '2026-11-21 14:30 UTC', what: 'The password was changed.' },
  password_reset_requested: {
    email: 'ana@example.com',
    time: '2026-11-21 14:30 UTC',
    ip: '192.0.2.7',
    expires: '2026-11-21 15:00 UTC',
    url: 'https://paymesh.example.com/reset#token',
  },
  member_invited: {
    workspace: 'Casa Lumbre',
    inviter: 'Ana',
    role: 'support',
    expires: '2026-11-28 14:30 UTC',
    url: 'https://paymesh.example.com/invitation#token',
  },
  owner_notice: {
    workspace: 'Casa Lumbre',
    headline: 'A role was changed',
    sentence: 'luis@example.com was viewer and is owner now.',
    actor: 'ana@example.com',
    time: '2026-11-21 14:30 UTC',
    from: '192.0.2.7',
    reason: 'He keeps the shop',
  },
  installation_problems: {
    headline: '2 problems',
    count: '2',
    time: '2026-11-21 14:30 UTC',
    problem_1: 'bitcoin (live) does not advance. The node does not respond.',
    problem_2: 'Back-ups fail. There is none.',
  },
  installation_recovered: {
    headline: 'Back-ups fail',
    count: '1',
    time: '2026-11-21 14:30 UTC',
    problem_1: 'Back-ups fail: since 2026-11-20 14:30 UTC.',
  },
}
const TEMPLATES = Object.keys(SAMPLES) as MailRecord['template'][]

describe.each(TEMPLATES)('%s', (template) => {
  test('says in both forms what it is about', () => {
    const { subject, text, html } = renderMail({ template, data: SAMPLES[template] })
    expect(subject).toMatch(/^\S.{10,78}\S$/)
    for (const [name, value] of Object.entries(SAMPLES[template])) {
      if (name === 'url') continue
      expect(text + subject).toContain(value)
      expect(html).toContain(value)
    }
  })

  // Guarantee: nothing in a mail's data becomes markup or another header.
  test('escapes whatever its data hold', () => {
    const hostile = '</code><script>alert(1)</script>\r\nBcc: everyone@example.com\u2028'
    const data = Object.fromEntries(Object.keys(SAMPLES[template]).map((name) => [name, hostile]))
    const { subject, html } = renderMail({ template, data })
    expect(subject).not.toMatch(/[\r\n\u2028]/)
    expect(html).not.toContain('<script')
  })

  test('refuses to say half', () => {
    const [first = ''] = Object.keys(SAMPLES[template])
    const { [first]: _missing, ...rest } = SAMPLES[template]
    expect(() => renderMail({ template, data: rest })).toThrow(first)
  })
})

test('a URL loses its query, which may hold a token', () => {
  const { text, html } = renderMail({ template: 'endpoint_failing', data: SAMPLES.endpoint_failing })
  expect(text + html).toContain('https://shop.test/hook')
  expect(text + html).not.toContain('hush')
})
