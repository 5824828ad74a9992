/** Colours of states on every page: each is a token for text and one for its background (`--paid`, `--paid-bg`), with a contrast of at least 4.5:1. */
export type Tone =
  | 'new'
  | 'pending'
  | 'partial'
  | 'confirming'
  | 'paid'
  | 'overpaid'
  | 'expired'
  | 'cancelled'
  | 'danger'
  | 'test'
