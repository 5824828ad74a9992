import type { Request } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { BucketRule, TokenBuckets } from '#shared/queues/token-bucket.ts'
import { addressGroup, clientAddress } from '#shared/runtime/http/client-address.ts'

/**
 * What one address may do. A page that polls asks some ten times a minute, and a café shares one address: reading is wide.
 * Addresses of wallets and invoices are what strangers could use up: three to four a minute, twenty at once.
 */
export const LIMITS = {
  read: { name: 'read', capacity: 240, intervalMs: 200 },
  lock: { name: 'lock', capacity: 20, intervalMs: 15_000 },
  link: { name: 'link', capacity: 20, intervalMs: 15_000 },
  /** Every POST, also one that is refused: what costs us is counted, not what succeeds. */
  post: { name: 'post', capacity: 240, intervalMs: 250 },
  question: { name: 'question', capacity: 6, intervalMs: 20_000 },
} as const satisfies Readonly<Record<string, BucketRule>>

/** A limit was reached; the answer names the wait in seconds. */
export class TooMany extends PaymeshError {
  readonly retryAfter: number

  constructor(retryAfter: number) {
    super('RATE_LIMITED')
    this.retryAfter = retryAfter
  }
}

/** What counts the deeds of addresses. */
export interface LimitDeps {
  readonly buckets: TokenBuckets
  readonly config: { readonly trustedProxies: number }
}

/** Whom a limit counts: the payer's IPv4 address, or the network of an IPv6 one. */
export function payerOf({ config }: Pick<LimitDeps, 'config'>, request: Request): string {
  return addressGroup(clientAddress(request, config.trustedProxies))
}

/** Takes a token of the payer's address; throws `RATE_LIMITED` when there is none. */
export async function admit(deps: LimitDeps, request: Request, rule: BucketRule): Promise<void> {
  const { allowed, retryAfter } = await deps.buckets.take(rule, payerOf(deps, request))
  if (!allowed) throw new TooMany(retryAfter)
}
