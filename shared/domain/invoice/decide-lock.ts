import type { Decision } from './decision.ts'
import { type AssetLock, activeLock, type InvoiceState, type Ms, type Quote, type Refusal } from './model.ts'
import { latestQuote } from './quote-window.ts'
import type { Draft } from './settle.ts'
import { totals } from './totals.ts'

/** Assets a payer may pick for one invoice, one after another. */
const LOCKS_MAX = 5
/** Price promises given on one invoice, over all its locks. */
const QUOTES_MAX = 20

/** Locks the first asset, or another one while nothing has been seen; earlier locks close but stay watched. */
export function decideAssetLocked(state: InvoiceState, lock: AssetLock, at: Ms): Decision {
  const refused = lockRefusal(state, at)
  if (refused !== null) return { refused }
  const closed = state.locks.map((other) => ({ ...other, to: other.to ?? at }))
  const locked = { ...state, status: 'pending' as const, locks: [...closed, { ...lock, to: null }] }
  return pending({ ...locked, partialAnnouncedBase: 0n }, latestQuote(lock))
}

/** Appends a price promise to the active lock while nothing has been seen. Earlier claims on amounts stay reserved. */
export function decideQuoteRenewed(state: InvoiceState, quote: Quote, claim: string, at: Ms): Decision {
  const active = activeLock(state)
  const refused = renewalRefusal(state, at)
  if (active === null || refused !== null) return { refused: refused ?? 'not_lockable' }
  const moved = claim === active.claim ? {} : { claim, formerClaims: [...(active.formerClaims ?? []), active.claim] }
  const renewed: AssetLock = { ...active, ...moved, quotes: [...active.quotes, quote] }
  return pending({ ...state, locks: state.locks.map((lock) => (lock === active ? renewed : lock)) }, quote)
}

/** Why no asset can be chosen now, as far as the state tells; null when one can. */
export function lockRefusal(state: InvoiceState, at: Ms): Refusal | null {
  if (!isLockable(state, at)) return 'not_lockable'
  if (state.locks.length >= LOCKS_MAX) return 'too_many_locks'
  return quoteCount(state) >= QUOTES_MAX ? 'too_many_quotes' : null
}

/** Why the price cannot be renewed now, as far as the state tells; null when it can. */
export function renewalRefusal(state: InvoiceState, at: Ms): Refusal | null {
  if (activeLock(state) === null || state.status !== 'pending' || !isLockable(state, at)) return 'not_lockable'
  return quoteCount(state) >= QUOTES_MAX ? 'too_many_quotes' : null
}

/** Alive, and no money on the way: later changes of asset or price would move the goal while the payer runs. */
function isLockable(state: InvoiceState, at: Ms): boolean {
  if (state.status !== 'new' && state.status !== 'pending') return false
  return at < state.expiresAt && totals(state).receivedBase === 0n
}

function pending(state: InvoiceState, quote: Quote): Draft {
  return {
    state: { ...state, expiresAt: state.endsWithQuote ? quote.expiresAt : state.expiresAt },
    effects: [{ kind: 'event', type: 'invoice.pending', payment: null }],
  }
}

function quoteCount(state: InvoiceState): number {
  return state.locks.reduce((total, lock) => total + lock.quotes.length, 0)
}
