import type { Refusal } from './model.ts'
import type { Draft } from './settle.ts'

/** What one event does to a folded invoice: nothing (null), a refusal, or a new state with its announcements. */
export type Decision = Draft | { readonly refused: Refusal } | null
