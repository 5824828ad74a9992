/** One checked try: its result, and how long its lane pauses before the next one, in milliseconds. */
export interface EvaluatedTry<T> {
  readonly answer: T
  readonly restMs: number
}

/**
 * Tries of one source, browser or login are checked one after the other in this process. None is refused: each waits for its turn.
 */
export interface HashingLimiter {
  /**
   * Runs `check` when it is this try's turn and returns its result. Of the waiting tries, the newest and the oldest are taken
   * alternately: a burst does not keep a newcomer waiting, and none waits forever. Rejects as `check` does, and with the reason of
   * `signal` when that aborts before the turn: then `check` is never run.
   */
  evaluate<T>(lane: string, evaluate: () => Promise<EvaluatedTry<T>>, signal: AbortSignal | null): Promise<T>
}
