/** Colours of states on every page: each is a token for text and one for its ground (`--paid`, `--paid-bg`), with at least 4.5:1 between them. */
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
