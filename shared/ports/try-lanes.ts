/** Limits how many tries of one source, browser or log-in are judged, or wait for their answer, at once in this process. */
export interface TryLanes {
  /** Takes a place and returns what gives it back; null when `places` are taken. Giving back twice changes nothing. */
  enter(lane: string, places: number): (() => void) | null
}
