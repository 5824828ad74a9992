import type { Request } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { BucketRule, TokenBuckets } from '#shared/queues/token-bucket.ts'
import { addressGroup, clientAddress } from '#shared/runtime/http/client-address.ts'

/**
 * Limits of one address. A polling page sends about ten requests a minute, and a café shares one address: the limit for reads is high.
 * Strangers could use up addresses of wallets (`lock`: new selections of a coin, and new prices) and invoices (`link`): four a minute,
 * twenty at once.
 */
export const LIMITS = {
  read: { name: 'read', capacity: 240, intervalMs: 200 },
  lock: { name: 'lock', capacity: 20, intervalMs: 15_000 },
  link: { name: 'link', capacity: 20, intervalMs: 15_000 },
  /** Every POST, also a refused one: the cost is counted, not the success. */
  post: { name: 'post', capacity: 240, intervalMs: 250 },
  /** What a wallet announced: one for each payment, and some for what went wrong before. */
  hint: { name: 'hint', capacity: 10, intervalMs: 20_000 },
  /** A transaction for the payer's wallet: one for each try. */
  wallet: { name: 'wallet', capacity: 10, intervalMs: 6_000 },
  /** A signed transaction for the network: one for each try. */
  signed: { name: 'signed', capacity: 10, intervalMs: 6_000 },
  question: { name: 'question', capacity: 6, intervalMs: 20_000 },
} as const satisfies Readonly<Record<string, BucketRule>>

/** A limit was reached; the response states the wait in seconds. */
export class TooMany extends PaymeshError {
  readonly retryAfter: number

  constructor(retryAfter: number) {
    super('RATE_LIMITED')
    this.retryAfter = retryAfter
  }
}

/** Counters of actions by address. */
export interface LimitDeps {
  readonly buckets: TokenBuckets
  readonly config: { readonly trustedProxies: number }
}

/** The unit that a limit counts: the payer's IPv4 address, or the network of an IPv6 one. */
export function payerOf({ config }: Pick<LimitDeps, 'config'>, request: Request): string {
  return addressGroup(clientAddress(request, config.trustedProxies))
}

/** Takes a token of the payer's address; throws `RATE_LIMITED` when there is none. */
export async function admit(deps: LimitDeps, request: Request, rule: BucketRule): Promise<void> {
  const { allowed, retryAfter } = await deps.buckets.take(rule, payerOf(deps, request))
  if (!allowed) throw new TooMany(retryAfter)
}
