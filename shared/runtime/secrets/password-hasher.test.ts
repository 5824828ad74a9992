import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

// Guarantee: the cheap hashes of tests are in no product: whoever makes a hasher outside of tests makes it at the full cost.
test('only tests choose another cost', () => {
  const sources = ['services', 'shared', 'scripts', 'dev', 'clients'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(name))
      .map((name) => join(folder, name)),
  )
  const makers = sources.filter((file) => readFileSync(file, 'utf8').includes('createPasswordHasher('))
  expect(makers).toContain('services/admin/open-admin-parts.ts')
  const calls = makers.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?<!function )createPasswordHasher\(([^)]*)\)/g)].map(([, cost = '']) => [
      file,
      cost,
    ]),
  )
  expect(calls.filter(([, cost]) => cost !== '')).toEqual([])
})
