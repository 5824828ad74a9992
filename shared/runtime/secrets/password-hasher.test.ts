import { expect, test } from 'vitest'
import { createPasswordHasher } from './password-hasher.ts'

// Guarantee: what is stored is argon2id at OWASP's cost, salted, and opens to its own password alone.
test('a password is kept as argon2id', async () => {
  const hasher = createPasswordHasher()
  const [one, two] = await Promise.all([hasher.hash('four words are good'), hasher.hash('four words are good')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(two).not.toBe(one)
  expect(await hasher.verify(one, 'four words are good')).toBe(true)
  expect(await hasher.verify(one, 'four words are bad')).toBe(false)
  expect(await hasher.verify(null, 'four words are good')).toBe(false)
})

test('the same letters typed on another machine are the same password', async () => {
  const hasher = createPasswordHasher()
  expect(await hasher.verify(await hasher.hash('contraseña larga'), 'contrasen\u0303a larga')).toBe(true)
})
