import type { Request } from 'express'
import { PaymeshError } from '#shared/contracts/errors.ts'
import { SCARCE } from '#shared/domain/scarce.ts'
import type { BucketRule, TokenBuckets } from '#shared/queues/token-bucket.ts'
import { addressGroup, clientAddress } from '#shared/runtime/http/http-server.ts'

/** Limits of one connection; a café shares one, so that the limit for reads is high. */
export const LIMITS = {
  read: { name: 'read', ...SCARCE.checkoutReads.budget },
  paymentMethod: { name: 'paymentMethod', ...SCARCE.coinChoices.budget },
  link: { name: 'link', ...SCARCE.linkInvoices.budget },
  /** Every POST, also a refused one: the cost is counted, not the success. */
  post: { name: 'post', ...SCARCE.checkoutPosts.budget },
  hint: { name: 'hint', ...SCARCE.paymentHints.budget },
  wallet: { name: 'wallet', ...SCARCE.walletPayments.budget },
  signed: { name: 'signed', ...SCARCE.signedPayments.budget },
  question: { name: 'question', ...SCARCE.paidQuestions.budget },
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
