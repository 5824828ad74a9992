/** One judged try: the answer, and how long its lane rests before the next one is judged, in milliseconds. */
export interface JudgedTry<T> {
  readonly answer: T
  readonly restMs: number
}

/**
 * Tries of one source, browser or log-in are judged one after the other in this process. None is refused: each waits for its turn.
 */
export interface TryLanes {
  /**
   * Runs `judge` when it is this try's turn and returns what it answers. Of the tries that wait, the newest and the oldest take
   * turns: a burst does not keep a newcomer waiting, and none waits for ever. Rejects as `judge` does, and with the reason of
   * `signal` when that aborts before the turn: then `judge` is never run.
   */
  judge<T>(lane: string, judge: () => Promise<JudgedTry<T>>, signal: AbortSignal | null): Promise<T>
}
