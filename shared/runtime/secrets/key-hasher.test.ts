import { expect, it } from 'vitest'
import { createKeyHasher } from './secret-box.ts'

it('is HMAC-SHA256 in hex (RFC 4231, test case 2)', () => {
  expect(createKeyHasher(new TextEncoder().encode('Jefe')).hash('what do ya want for nothing?')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

// Guards access: digests from a stolen database are useless on another installation.
it('depends on the pepper', () => {
  const hash = (byte: number) => createKeyHasher(new Uint8Array(32).fill(byte)).hash('pm_test_x')
  expect(hash(1)).not.toBe(hash(2))
})
