/** A guarantee that did not hold. `invariant` begins with its letter and number: S1 … S16, L1 … L4. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly invariant: string
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
    this.invariant = invariant
  }
}

/** Throws unless a guarantee holds; the text is only made when it does not. */
export function must(holds: boolean, invariant: string, message: () => string): asserts holds {
  if (!holds) throw new Violation(invariant, message())
}
