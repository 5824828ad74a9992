import type { GoLiveKind, GoLiveReason, GoLiveState } from './go-live.ts'

/** The texts of the check in one language. */
export interface GoLiveWords {
  readonly states: Readonly<Record<GoLiveState, string>>
  readonly steps: Readonly<Record<'seen' | 'confirming' | 'paid' | 'delivered', string>>
  /** Each item, why it matters, and how to mend it. */
  readonly items: Readonly<Record<GoLiveKind, { readonly title: string; readonly why: string; readonly mend: string }>>
  /** Why an item did not pass; `about` names networks, hosts or people. */
  readonly reasons: Readonly<Record<GoLiveReason, (about: string) => string>>
}
