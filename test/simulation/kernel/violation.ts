/** A guarantee that did not hold. `invariant` begins with its letter and number: S1 … S16, L1 … L4. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly invariant: string
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
    this.invariant = invariant
  }
}

/** How often each guarantee was asked since the last {@link takeEvaluated}, by the letter and number of its invariant. */
let evaluated: Record<string, number> = {}

/** The counts of what was asked, and zero again: one seed runs at a time in a thread. */
export function takeEvaluated(): Readonly<Record<string, number>> {
  const counts = evaluated
  evaluated = {}
  return counts
}

/** Throws unless a guarantee holds; the text is only made when it does not. */
export function must(holds: boolean, invariant: string, message: () => string): asserts holds {
  evaluated[invariant] = (evaluated[invariant] ?? 0) + 1
  if (!holds) throw new Violation(invariant, message())
}
