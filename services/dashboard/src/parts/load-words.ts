/** What a page or card says when its data failed to load, or could not be read again. */
export interface LoadWords {
  readonly absent: string
  readonly failed: (what: string) => string
  readonly offline: string
  readonly retry: string
  readonly request: string
  /** Above what was read before. */
  readonly old: (what: string, time: string) => string
  /** In place of what was read before. */
  readonly removed: string
}

/** In English, as most pages are. */
export const LOAD_WORDS: LoadWords = {
  absent: 'Not found. It may belong to another workspace, or to the other mode (live or test).',
  failed: (what) => `Could not load ${what}. No changes were made.`,
  offline: 'The server did not respond.',
  retry: 'Try again',
  request: 'Request',
  old: (what, time) => `Could not refresh ${what}. You see what was read at ${time}.`,
  removed: 'It is no longer here: it was removed, or you may no longer see it.',
}
