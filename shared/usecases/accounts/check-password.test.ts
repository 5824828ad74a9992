import { expect, test } from 'vitest'
import { checkPassword } from './check-password.ts'

const EMAIL = 'Olivia.Ortiz@Example.com'

// Guarantee: what everybody tries first is no password here.
test.each([
  'short words',
  'Password1234',
  'QWERTYUIOP123',
  '123456789012',
  'olivia.ortiz',
  'olivia.ortiz@example.com',
  'aaaaaaaaaaaaaaaa',
  'ababababababab',
  'x'.repeat(201),
])('%s is refused', (password) => {
  expect(() => checkPassword(password, EMAIL)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }))
})

test.each(['four words are good', 'contraseña muy larga', '正しい馬の電池とホッチキス', 'pässwörter sind gut'])(
  '%s is taken',
  (password) => {
    expect(() => checkPassword(password, EMAIL)).not.toThrow()
  },
)
