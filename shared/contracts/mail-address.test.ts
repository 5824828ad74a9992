import { expect, test } from 'vitest'
import { isMailAddress, parseMailAddress } from './mail-address.ts'

test.each(['owner@example.com', 'a.b+c@pay.example.co', 'josé@correo.example', "o'neil@example.com", 'root@localhost'])(
  '%s is an address',
  (text) => expect(isMailAddress(text)).toBe(true),
)

// Guarantee: what passes cannot add a header, a recipient or an SMTP command.
test.each([
  '',
  'owner',
  'owner@',
  '@example.com',
  'a b@example.com',
  'a@example.com\r\nBcc: b@example.com',
  'a@example.com\nb',
  'a@exam\u0000ple.com',
  'a@example.com,b@example.com',
  'a@example.com;b@example.com',
  'Name <a@example.com>',
  '<a@example.com>',
  '"a b"@example.com',
  'a(comment)@example.com',
  'a@[127.0.0.1]',
  'a@@example.com',
  'a@example.com>\u2028RCPT TO:<b@example.com',
  'a..b@example.com',
  `${'a'.repeat(250)}@example.com`,
])('%j is none', (text) => expect(isMailAddress(text)).toBe(false))

test('a sender may have a name', () => {
  expect(parseMailAddress('Paymesh <pay@example.com>')).toEqual({ name: 'Paymesh', address: 'pay@example.com' })
  expect(parseMailAddress('pay@example.com')).toEqual({ name: '', address: 'pay@example.com' })
  expect(parseMailAddress('A\nB <pay@example.com>')).toBeNull()
  expect(parseMailAddress('A <pay@example.com>, B <b@example.com>')).toBeNull()
})
