let changedAt = 0

/** Records that the person in this browser has just changed something: lists show the next response in full. */
export function recordOwnChange(): void {
  changedAt = Date.now()
}

/** When the last change of this browser succeeded, in Unix ms; 0 before the first. */
export function lastOwnChangeAt(): number {
  return changedAt
}
