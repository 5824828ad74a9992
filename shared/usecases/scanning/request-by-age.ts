/** `impossible`: no node can answer about so old an account, or only in too many requests. `spent`: the budget of one step was used up first. */
export type Possibility = 'done' | 'spent' | 'impossible'

/**
 * Puts a request about accounts, oldest first, for all of them together. Where the oldest one makes it impossible, it halves them until every
 * younger one was requested for which it is possible: so many accounts take one request more than they can be halved.
 * Returns those for which it is impossible.
 */
export async function requestByAge<T>(
  byAge: readonly T[],
  request: (part: readonly T[]) => Promise<Possibility>,
): Promise<readonly T[] | 'spent'> {
  const whole = byAge.length === 0 ? 'done' : await request(byAge)
  if (whole !== 'impossible') return whole === 'done' ? [] : whole
  let impossible: readonly T[] = []
  // As a whole it is impossible, so its oldest one is.
  let left = byAge
  while (left.length > 1) {
    const half = Math.ceil(left.length / 2)
    const [older, younger] = [left.slice(0, half), left.slice(half)]
    const outcome = await request(younger)
    if (outcome === 'spent') return outcome
    if (outcome === 'impossible') impossible = [...impossible, ...older]
    left = outcome === 'impossible' ? younger : older
  }
  return [...impossible, ...left]
}
