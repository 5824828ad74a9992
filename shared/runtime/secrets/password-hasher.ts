import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import type { PasswordHasher } from '#shared/ports/secrets.ts'

/** OWASP's smallest recommendation for argon2id: 19 MiB, two passes, one lane. The library's default algorithm is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const

/** What a hash costs: KiB of memory, passes over it, and lanes. */
type Cost = Readonly<Record<keyof typeof COST, number>>

/** Hashes in worker threads of the library; about 30 ms each on a small machine. Only tests give another cost. */
export function createPasswordHasher(cost: Cost = COST): PasswordHasher {
  // Its password is unknown: it makes an unknown address cost as much as a wrong password.
  let dummy: Promise<string> | undefined
  return {
    hash: (password) => hash(password.normalize('NFKC'), cost),
    verify: async (stored, password) => {
      dummy ??= hash(randomBytes(24).toString('base64'), cost)
      const matches = await verify(stored ?? (await dummy), password.normalize('NFKC'))
      return stored !== null && matches
    },
  }
}
