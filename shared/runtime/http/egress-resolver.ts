import { Resolver } from 'node:dns/promises'

/** All addresses of a name, A and AAAA together, at least one. Throws when the name does not resolve at this moment. */
export type ResolveAll = (hostname: string) => Promise<readonly string[]>

const TRY_MS = 2_000
const TRIES = 2

/**
 * Queries the configured DNS servers directly. The hosts file is not read, so a name cannot reach hosts that only this machine
 * can resolve, and a hanging name server blocks no thread of the process.
 */
export function createResolver(): ResolveAll {
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const failed = answers.find((answer) => answer.status === 'rejected')
    throw new Error('the name does not resolve', { cause: failed?.reason })
  }
}
