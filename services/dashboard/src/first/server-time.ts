/** Clocks that differ by less are equal: the header has seconds, and an answer takes time to arrive. */
const STEP_MS = 3_000
let ahead = 0

/** A moment of this browser's clock, by default now, by that of the server, as its last answer had it; ms since 1970. */
export const serverTime = (at = Date.now()): number => at + ahead

/** Reads the server's clock from its answer, which it returns. */
export function withServerTime(answer: Response): Response {
  const now = Date.parse(answer.headers.get('date') ?? '')
  if (Math.abs(now - serverTime()) > STEP_MS) ahead = now - Date.now()
  return answer
}
